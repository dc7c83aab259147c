"""Content and questions are data: nothing in them may become a control token of the chat template."""

from __future__ import annotations

import re

# Control tokens of the templates in use (Qwen, Llama, Gemma, Mistral, Phi) and of thinking models.
# A zero-width-free way to break them: the bar becomes the full-width one, `<|im_end|>` → `‹｜im_end｜›`,
# which every tokenizer reads as plain text while a reader still sees what a post is about.
# DeepSeek's own tokens have that bar, so the angle brackets of a whole token change as well.
PIPE_TOKEN = re.compile(r"<[|｜]([^|｜<>\n]{1,40})[|｜]>")
HALF_PIPE = re.compile(r"<\||\|>")
ANGLE_TOKEN = re.compile(
    r"<(/?)(start_of_turn|end_of_turn|start_header_id|end_header_id|s|bos|eos|think|tool_call|"
    r"tool_response|system|user|assistant)>",
    re.I,
)
BRACKET_TOKEN = re.compile(r"\[(/?)(INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]", re.I)
SYS_TOKEN = re.compile(r"<<(/?)SYS>>", re.I)


def neutralise(text: str) -> str:
    """`text` with template tokens made inert and still readable."""
    text = PIPE_TOKEN.sub("‹｜\\1｜›", text)
    text = HALF_PIPE.sub(lambda match: match[0].replace("|", "｜"), text)
    text = SYS_TOKEN.sub("‹‹\\1SYS››", text)
    text = ANGLE_TOKEN.sub("‹\\1\\2›", text)
    return BRACKET_TOKEN.sub("(\\1\\2)", text)
