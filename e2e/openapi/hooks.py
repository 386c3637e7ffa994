"""Checks of answers beside those that Schemathesis has."""

import schemathesis


@schemathesis.check
def no_error_of_the_service(ctx, response, case):
    """The only 5xx that is right is a run that failed, told as a problem with its execution."""
    if response.status_code < 500:
        return
    problem = response.json() if "problem+json" in response.headers.get("content-type", [""])[0] else {}
    assert response.status_code == 500 and problem.get("executionId"), f"answered {response.status_code}"
