"""20,000 requests that schemathesis makes of the OpenAPI, right and wrong ones: none is answered by a 5xx."""

from itertools import count

from schemathesis import GenerationMode

from support.openapi_rules import has_rules
from support.schema_cases import apart, ask_anything, operations

CASES, AT_ONCE = 20_000, 50


def test_every_answer_of_many_thousands_is_as_described(tmp_path):
    asked = 0
    with apart(tmp_path) as (url, headers):
        for start in count():
            for operation in operations(url):
                ask_anything(url, headers, operation, AT_ONCE, start=start)
                asked += AT_ONCE
                if has_rules(operation):
                    ask_anything(url, headers, operation, AT_ONCE, mode=GenerationMode.NEGATIVE, start=start)
                    asked += AT_ONCE
            if asked >= CASES:
                break
