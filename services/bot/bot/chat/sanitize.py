"""Content and questions are data: nothing in them may become a control token of the chat template.

Nor part of the prompt's own frame: a passage's number or a role at the beginning of a line, the heading
of the passages, the word with which the model declines. And nothing hidden leaves with the answer.
"""

from __future__ import annotations

import re

from corpus.text import CONTROL, HIDDEN

# Control tokens of the templates in use (Qwen, Llama, Gemma, Mistral, Phi) and of thinking models.
# A zero-width-free way to break them: the bar becomes the full-width one, `<|im_end|>` → `‹｜im_end｜›`,
# which every tokenizer reads as plain text while a reader still sees what a post is about.
# DeepSeek's own tokens have that bar, so the angle brackets of a whole token change as well.
PIPE_TOKEN = re.compile(r"<[|｜]([^|｜<>\n]{1,40})[|｜]>")
HALF_PIPE = re.compile(r"<\||\|>")
ANGLE_TOKEN = re.compile(
    r"<(/?)(start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token|start_header_id|"
    r"end_header_id|s|bos|eos|pad|unk|mask|unused\d{1,4}|think|tool_call|tool_calls|tool_response|tools|"
    r"system|user|assistant)>",
    re.I,
)
BRACKET_TOKEN = re.compile(
    r"\[(/?)(INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|"
    r"PREFIX|MIDDLE|SUFFIX|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|THINK|MODEL_SETTINGS|REF|control_\d{1,4})\]",
    re.I,
)
SYS_TOKEN = re.compile(r"<<(/?)SYS>>", re.I)
# The frame of our own prompt (bot.chat.prompt), as a document or a visitor may forge it.
PASSAGE_NUMBER = re.compile(r"^([ \t]{0,3})\[(\d{1,4})\]", re.M)
ROLE = re.compile(
    r"^([ \t>#*]{0,6}(?:system|assistant|user|human|developer|tool|model|passages|sistema|asistente|usuario|"
    r"pasajes)[ \t*]{0,4}):(?=\s|$)",
    re.M | re.I,
)
DECLINE = re.compile(r"NO_ANSWER")
LINE_SEPARATORS = re.compile("[\u2028\u2029]")


def neutralise(text: str) -> str:
    """`text` with template tokens and forged frames made inert and still readable."""
    text = PIPE_TOKEN.sub("‹｜\\1｜›", text)
    text = HALF_PIPE.sub(lambda match: match[0].replace("|", "｜"), text)
    text = SYS_TOKEN.sub("‹‹\\1SYS››", text)
    text = ANGLE_TOKEN.sub("‹\\1\\2›", text)
    text = BRACKET_TOKEN.sub("(\\1\\2)", text)
    text = LINE_SEPARATORS.sub("\n", text)
    text = PASSAGE_NUMBER.sub("\\1(\\2)", text)
    text = ROLE.sub("\\1：", text)
    return DECLINE.sub("NO-ANSWER", text)


def visible(delta: str) -> str:
    """A piece of a model's text without hidden and control characters, the same for any chunks."""
    return HIDDEN.sub("", CONTROL.sub("", LINE_SEPARATORS.sub("\n", delta.replace("\r", ""))))
