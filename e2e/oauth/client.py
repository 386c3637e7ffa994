"""An OAuth client of Authlib: from the address of the API alone to a token and a call, as JSON on stdout.

Arguments: the host, the team, how the client authenticates, the scope. CLIENT_ID and CLIENT_SECRET are in the environment.
"""

import json
import os
import sys

import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

host, team, method, scope = sys.argv[1:]
api = f"{host}/api/{team}/rest"

# RFC 9728: a refused call says where the metadata of the resource are, and those name the authorization server.
challenge = requests.get(f"{api}/team", timeout=30).headers["www-authenticate"]
resource = requests.get(challenge.split('resource_metadata="')[1].split('"')[0], timeout=30).json()
issuer = resource["authorization_servers"][0]

# RFC 8414: its metadata, as Authlib checks them.
found = requests.get(get_well_known_url(issuer, external=True), timeout=30).json()
AuthorizationServerMetadata(found).validate()
assert found["issuer"] == issuer, found
assert method in found["token_endpoint_auth_methods_supported"], found
assert "client_credentials" in found["grant_types_supported"], found

session = OAuth2Session(
    os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"], token_endpoint_auth_method=method, scope=scope or None
)
try:
    token = session.fetch_token(found["token_endpoint"], grant_type="client_credentials")
except OAuthError as error:
    print(json.dumps({"error": error.error, "description": error.description}))
    sys.exit()
answer = session.get(f"{api}/team", timeout=30)
print(json.dumps({"scope": token["scope"], "type": token["token_type"], "status": answer.status_code, **answer.json()}))
