import type {
  IAuthenticateGeneric,
  ICredentialDataDecryptedObject,
  ICredentialTestRequest,
  ICredentialType,
  IHttpRequestHelper,
  INodeProperties,
} from 'n8n-workflow'

/** Where a team is served, and an API token, which is exchanged for the access token that requests carry. */
export class ProcessAutomationApi implements ICredentialType {
  name = 'processAutomationApi'

  displayName = 'Process Automation API'

  icon = {
    light: 'file:../nodes/ProcessAutomation/process-automation.svg',
    dark: 'file:../nodes/ProcessAutomation/process-automation.dark.svg',
  } as const

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://automation.example.com',
      description: 'Where the service is reached, without a path',
    },
    {
      displayName: 'Team',
      name: 'team',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'demo',
      description: 'Slug of the team, as it stands in the addresses of the service',
    },
    {
      displayName: 'API Token',
      name: 'apiToken',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A token of the team with the scopes read and run',
    },
    {
      displayName: 'Access Token',
      name: 'accessToken',
      type: 'hidden',
      typeOptions: { expirable: true, password: true },
      default: '',
    },
  ]

  /** Where there is no access token yet, and once more where one was refused. */
  async preAuthentication(
    this: IHttpRequestHelper,
    credentials: ICredentialDataDecryptedObject,
  ): Promise<{ accessToken: string }> {
    const { baseUrl, team, apiToken } = credentials as Record<'baseUrl' | 'team' | 'apiToken', string>
    const { access_token: accessToken } = (await this.helpers.httpRequest({
      method: 'POST',
      url: `${baseUrl.replace(/\/+$/, '')}/api/${encodeURIComponent(team)}/rest/auth/token`,
      headers: { 'x-api-token': apiToken },
      json: true,
    })) as { access_token: string }
    return { accessToken }
  }

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
  }

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}',
      url: '=/api/{{$credentials.team}}/rest/team',
    },
  }
}
