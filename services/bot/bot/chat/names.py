"""Names in a question: what keeps its spelling from one language to the other.

A name the whole index never mentions is the best sign of a question the content can't answer, and in
a Spanish question over an English text a shared name means more than a shared ordinary word.
"""

from __future__ import annotations

import re

from corpus.text import STOP_WORDS, aliases, fold, words

TOKEN = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
SENTENCE_ENDS = ".!?¿¡:;\n"
BEFORE_A_SENTENCE = "«\"'("

# Technologies and services visitors ask about, in lower case since many type them so. Not complete
# and need not be: a capital letter inside a sentence is the other sign.
TECHNOLOGIES = frozenset(
    "android angular ansible apache apple astro aws azure bizum bitbucket blazor blockchain bootstrap bun "
    "capacitor cassandra chatgpt circleci claude clojure cloudflare cobol contentful cordova couchdb "
    "cplusplus csharp cypress dart deno digitalocean django docker dotnet drupal duckdb dynamodb "
    "elasticsearch elixir ember erlang excel expo express facebook fastapi figma firebase flask flutter "
    "fortran fsharp gatsby gcp gemini github gitlab golang gradle grafana graphql groovy grpc haskell "
    "heroku hetzner htmx hugo instagram ionic ios jamstack java javascript jekyll jenkins jest jira jquery "
    "julia kafka keycloak klarna kotlin kubernetes k8s lambda langchain laravel linkedin linux llama lua "
    "macos magento mariadb matlab memcached mistral mongo mongodb mysql neo4j nestjs netlify nextjs nginx "
    "nodejs notion numpy nuxt objectivec ocaml ollama openai opencv oracle pandas pascal paypal perl php "
    "pinecone playwright postgres postgresql postman powershell prestashop prolog prometheus puppeteer "
    "pytest python pytorch qt rabbitmq rails raspberry react redis redux redsys remix ruby rust salesforce "
    "sap sass scala scikit selenium sentry shopify slack snowflake solid solidity solidjs splunk "
    "spring sqlite storybook strapi stripe supabase svelte sveltekit swift symfony tailwind tauri telegram "
    "tensorflow terraform threejs tiktok trello twilio twitter typescript ubuntu unity unreal vercel vite "
    "vue vuejs wasm webflow webpack whatsapp windows wix woocommerce wordpress xamarin youtube zig "
    "zustand".split()
)


def names_in(question: str) -> frozenset[str]:
    """Folded words of the question that are names, technologies or numbers.

    A word counts when it has a capital letter although no sentence starts with it, a capital or
    digit inside it, a digit, a name the tokenizer spells out (C++), or is a known technology.
    """
    found: set[str] = set(aliases(question))
    # In a question typed in capitals (or one word) capitals say nothing.
    shouting = question.upper() == question or len(question.split()) < 2
    for match in TOKEN.finditer(question):
        token = match[0]
        folded = words(token)
        if not folded or any(word in STOP_WORDS for word in folded[:1] if len(folded) == 1):
            continue
        starts = _starts_sentence(question, match.start())
        capital = token[0].isupper() and not starts and not shouting
        inner = any(char.isupper() for char in token[1:]) and not shouting
        digit = any(char.isdigit() for char in token)
        known = fold(token) in TECHNOLOGIES or any(word in TECHNOLOGIES for word in folded)
        if capital or inner or digit or known:
            found.update(word for word in folded if word not in STOP_WORDS)
    return frozenset(found)


def _starts_sentence(text: str, position: int) -> bool:
    while position and text[position - 1] not in SENTENCE_ENDS:
        if not text[position - 1].isspace() and text[position - 1] not in BEFORE_A_SENTENCE:
            return False
        position -= 1
    return True
