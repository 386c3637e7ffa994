/** What the examples of the document have in common, so that they tell of one team's things. */
export const samples = {
  id: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f21',
  versionId: '0198c2a5-03b4-7c1d-8e6f-2b9a7d5c4e10',
  executionId: '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04',
  at: '2026-01-31T12:00:00.000Z',
  etag: '"uS8Zc4Wn0bQ3kP1yVxT7aD"',
  later: '2026-01-31T12:05:00.000Z',
  made: { createdBy: 'ci', createdAt: '2026-01-31T12:00:00.000Z' },
  described: {
    revision: 1,
    sourceDigest: '9c1185a5c5e9fc54612808977ee8f548b2258d31ddadef70a9c7d6e1b1c7d4c2',
  },
  parameters: { name: 'Ada' },
  code: {
    programmingLanguage: 'JAVASCRIPT' as const,
    sourceCode: "console.log('greeting', svc.context.parameters.name)\nreturn { hello: svc.context.parameters.name }",
  },
  parametersSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  moduleCode: {
    programmingLanguage: 'JAVASCRIPT' as const,
    sourceCode: 'export const shout = (text) => text.toUpperCase()',
  },
}
