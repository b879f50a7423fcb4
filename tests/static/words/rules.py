# SPDX-License-Identifier: MIT
"""The rules for prose and comments, as functions from text to problems. check.py applies them to the repository and
selftest.py to planted sentences."""

import re

COLUMNS = 100           # of a line of prose
SUBJECT = 72            # of a commit's subject
LONG = 25               # words of a sentence
SHARE = 0.10            # of the sentences of a page that may join clauses, and of those that may be long
FEWEST = 10             # sentences: below that a page has no share

# Phrase: its replacement. Documentation/develop/glossary.md defines the replacements.
WORDS = {
    r"push[- ]words?": "push constants",
    r"group memory": "shared memory",
    r"attribute space": "stage I/O memory",
    r"ladders?\b(?!')": "reset escalation",
    r"rungs?\b": "step of reset escalation",
    r"(?:faults?|mistakes?) on purpose": "fault injection; mutants",
    r"coloured|colours?|greys?\b|behaviours?|neighbours?|equalis\w*|normalis\w*|synchronis\w*|initialis\w*|optimis\w*":
        "American spelling",
    r"machine room": "the plain name of what is meant",
    r"museum": "drivers with one known bug each",
    r"test ?bench(?![/\w])": "debug unit",
    r"stopping points?": "preemption point",
    r"wind-?downs?": "drain",
    # in time and order; in space ("behind an IOMMU") it stays
    r"(?:(?:begins?|begun|comes?|ends?|goes on|jobs?|the one|next|right|runs?|fetched|blocks?|stands?|store|waits?|"
    r"warning|result|tuple|packets?|sources) )behind"
    r"|behind (?:each|every|all|them|it|this|that|those|syncs|points|the (?:last|first|next|others?|one|end|doorbell))\b"
    r"|\bone behind": "after",
    r"of \d+ bits?\b": "N-bit as a compound",
}
# The same for pages alone. Comments follow when their folders have been rewritten.
PAGE_WORDS = {
    r"(?<!-)bundles?\b": "warp group",
    r"(?:go|goes|going|went) on\b": "continue",
    r"(?:nobody|somebody|anybody)\b": "the actor",
    r"at hand\b": "what is meant: loaded, stored, known",
    r"anew\b": "again",
    r"runs? dry\b": "is empty",
}


def compiled(words):
    return re.compile("|".join(rf"(?P<w{i}>\b(?:{w}))" for i, w in enumerate(words)), re.I), list(words.values())


DICTIONARY, PAGE_DICTIONARY = compiled(WORDS), compiled({**WORDS, **PAGE_WORDS})

# A subject without an actor: at the start of a sentence or of a joined clause, and no question.
SUBJECTS = r"(?:Who|Whoever|What|Whatever)"
ACTOR = re.compile(rf"^{SUBJECTS}\b(?! (?:if|about)\b)")
JOINED_ACTOR = re.compile(r"[;:] (?:who|whoever|what|whatever)\b")
BEGINNING = re.compile(r"(?:…|\.\.\.(?! *\])|(?:and|or|nor|those|these|it|they|Of|The same|Whether)\b)")

CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
INLINE = re.compile(r"`[^`\n]+(?:\n[^`\n]+)?`")
MEMBER = re.compile(r"[@&][a-z]\w*(?:\.\w+)*")       # names of parameters and members in kernel-doc
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
GENERATED = re.compile(r"<!-- generated: .*?<!-- end generated -->", re.S)
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
END = re.compile(r"(?<!\b[A-Z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<!No)([.?!])[\"')*_]*(?= +[\"'(*_`A-Z0-9]|$)")


def blank(match):
    """As many line ends as the match has, so that line numbers stay."""
    return "\n" * match.group().count("\n")


def strip_code(text):
    """The page without generated tables, code and comments. Inline code becomes one word."""
    for pattern in (GENERATED, CODE_BLOCK, COMMENT):
        text = pattern.sub(blank, text)
    return "\n".join("" if re.match(r"(?: {4}|\t)(?! *[-*] )", line) and not previous_is_item(text, number) else line
                     for number, line in enumerate(text.split("\n")))


def previous_is_item(text, number):
    """Whether an indented line continues a list item: no blank line since one."""
    for line in reversed(text.split("\n")[:number]):
        if not line.strip():
            return False
        if ITEM.match(line):
            return True
        if not line.startswith(("    ", "\t")):
            return False
    return False


def paragraphs(text):
    """(first line, text) of each paragraph and list item, with inline code as the word CODE and links as their text.
    Headings, tables and code are left out."""
    start, lines = 0, []
    for number, line in enumerate(strip_code(text).split("\n") + [""], 1):
        ends = not line.strip() or line.startswith(("#", "|", ">", "![")) or ITEM.match(line)
        if ends and lines:
            yield start, LINK.sub(r"\1", INLINE.sub("CODE", " ".join(lines)))
            lines = []
        if not line.strip() or line.startswith(("#", "|", "![")):
            continue
        if not lines:
            start = number
        lines.append(ITEM.sub("", line).strip(" >"))


def sentences(paragraph):
    at = 0
    for m in END.finditer(paragraph):
        yield paragraph[at:m.end()].strip()
        at = m.end()
    if paragraph[at:].strip():
        yield paragraph[at:].strip()


def joins(sentence):
    """Whether a colon, semicolon or dash joins two clauses of the sentence."""
    if ";" in sentence.rstrip(" ;") or re.search(r"\w,? [–—] \w", sentence):
        return True
    return any(len(m.group(1).split()) >= 3 for m in re.finditer(r"\w[)*\"]*: +(\S.*)", sentence))


def words_of(sentence):
    return len(re.findall(r"[\w'’/.-]*\w[\w'’/.-]*", sentence))


def unnamed(sentence):
    """A clause whose subject is who or what."""
    plain = sentence.lstrip("*_\"(")
    return bool((ACTOR.match(plain) and not sentence.rstrip("\"')*_").endswith("?")) or JOINED_ACTOR.search(sentence))


def wrong_words(text, dictionary=DICTIONARY):
    """(position, found, better) of each word that has a better one."""
    words, better = dictionary
    for m in words.finditer(text):
        yield m.start(), m.group(), better[int(m.lastgroup[1:])]


def check_page(text):
    """(line, problem) of a page; line 0 is the page as a whole."""
    prose = INLINE.sub("CODE", LINK.sub(r"\1", strip_code(text)))
    for at, found, better in wrong_words(prose, PAGE_DICTIONARY):
        yield prose.count("\n", 0, at) + 1, f"'{found}': say {better}"
    for number, line in enumerate(strip_code(text).split("\n"), 1):
        if len(line) > COLUMNS and not line.startswith("|") and " " in line[:COLUMNS].strip() and not re.match(r"^\S*\[[^\]]*\]\(\S*\)\S*$", line):
            yield number, f"{len(line)} columns, wrap at {COLUMNS}"
    total = joined = long = 0
    for number, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            total += 1
            joined += joins(sentence)
            long += words_of(sentence) > LONG
            if unnamed(sentence):
                yield number, f"name the actor: {sentence[:60]}"
    for count, what in ((joined, "join clauses by a colon, semicolon or dash"), (long, f"have more than {LONG} words")):
        if total >= FEWEST and count > SHARE * total:
            yield 0, f"{count} of {total} sentences {what}, {SHARE:.0%} may"


def listing(text):
    """The sentences that count against a page's shares, for `check.py --why PAGE`."""
    for number, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            why = [w for w, yes in (("joins", joins(sentence)), ("long", words_of(sentence) > LONG)) if yes]
            if why:
                yield number, f"{', '.join(why)}: {sentence}"


C_COMMENT = re.compile(r"""/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#(?![!:]) ?(.*)$")


def c_comments(text):
    for m in C_COMMENT.finditer(text):
        body = m.group(1) if m.group(1) is not None else m.group(2)
        if body is not None:
            yield text.count("\n", 0, m.start()) + 1, re.sub(r"\n[ \t]*\*?[ \t]?", "\n", body.lstrip("*!<")).strip()


def hash_comments(text):
    """Comments of scripts: neighboring lines are one."""
    start, lines = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*#(?!!) ?(.*)$", line)
        if m:
            if not lines:
                start = number
            lines.append(m.group(1))
            continue
        if lines:
            yield start, "\n".join(lines).strip()
            lines = []


def comments(path, text):
    return c_comments(text) if path.endswith((".c", ".h", ".inc")) else hash_comments(text)


def check_comment(text):
    """Problems of one comment."""
    if text.startswith("SPDX"):
        return
    if BEGINNING.match(text):
        yield f"begins with a fragment: {text[:50]!r}"
    plain = MEMBER.sub("CODE", INLINE.sub("CODE", text))
    for _, found, better in wrong_words(plain):
        yield f"'{found}': say {better}"
    if ACTOR.match(plain) and not plain.rstrip().endswith("?"):
        yield f"name the actor: {text[:50]!r}"


# Words that end like a past tense or a third person and are neither.
IMPERATIVE = re.compile(r"^(?:need|embed|feed|seed|speed|shed|bleed|exceed|proceed|succeed|pass|process|press|miss|dress|"
                        r"address|bypass|focus|express|compress|suppress|discuss|guess|access|assess|cross|bring|ring|"
                        r"string|ping|sing|always|swizzle)$")
NO_VERB = re.compile(r"^(?:a|an|the|no|its?|what|who|where|when|how|why|one|two|each|every|all|some|more|less|of|for|in|"
                     r"on|at|from|by|with|without|only|not|and|or|this|that|these|those)$")


def check_subject(subject):
    """Problems of a commit's subject."""
    if subject.startswith(("Merge ", "Revert \"", "fixup! ", "squash! ")):
        return
    if len(subject) > SUBJECT:
        yield f"{len(subject)} columns, at most {SUBJECT}"
    m = re.match(r"[\w./*{},-]+(?: [\w./-]+)?: (\S+)", subject)
    if not m:
        yield "no 'area: ' in front"
        return
    verb = m.group(1).rstrip(",:;").lower()
    if NO_VERB.match(verb) or (re.search(r"(?:ed|ing|[^s]s)$", verb) and not IMPERATIVE.match(verb)):
        yield f"'{m.group(1)}' is no imperative: say what the commit does to the code, as in 'reject', 'add'"
    if subject.endswith("."):
        yield "a subject has no full stop"
    for _, found, better in wrong_words(subject):
        yield f"'{found}': say {better}"
