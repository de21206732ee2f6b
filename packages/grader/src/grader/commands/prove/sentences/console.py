"""Shows what the sentences of tests say, and to whom: a table, false leads, and entries for untied sentences."""

import json
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from grader.commands.prove.matrix import Matrix
from grader.commands.prove.sentences.assertions import FIELD
from grader.commands.prove.sentences.leads import Lead, Leads, Untied

SHOWN = 3
"""Edits of mutants that are shown with an untied sentence."""


def leads_table(proven: Sequence[tuple[Matrix, Leads]]) -> Table:
    """Return a table with the number of sentences of each kind, by exercise."""
    table = Table(box=None, pad_edge=False)
    table.add_column("\nsentences of", overflow="fold")
    for heading in ("\nname a cause", "\nuntied", "\nfalse", "\ndead", "\nstale", "leads that\nmutants get"):
        table.add_column(heading, justify="right")
    for matrix, leads in proven:
        false = len(leads.false) + len(leads.misnamed)
        counts = (len(leads.untied), false, len(leads.dead), len(leads.stale), len(leads.vague))
        table.add_row(matrix.exercise, str(leads.causes), *(str(count or "") for count in counts))
    return table


def lead_complaints(exercise: str, leads: Leads) -> Iterator[Text]:
    """Yield what is to be mended, each sentence with the answer that gets it and its edit."""
    for lead in leads.false:
        yield _said(exercise, f"{lead.test} says to the {lead.kind} '{lead.name}' what it does not mean", lead, "red")
    for name, named in leads.misnamed.items():
        yield _headline(exercise, f"the diagnosis takes the mistake '{name}' for: {', '.join(named)}", "red")
    for sentence in leads.dead:
        yield _headline(exercise, "no known mistake and no mutant gets this sentence", "red")
        yield Text(f"    {sentence}")
    for sentence in leads.stale:
        yield _headline(exercise, sentence, "red")
    for lead in leads.vague:
        yield _said(exercise, f"{lead.test} says to a mutant that {lead.name}", lead, "yellow")
    if leads.untied:
        text = f"{len(leads.untied)} sentences name a cause and are not tied; entries to judge and copy are below"
        yield _headline(exercise, text, "red")


def entries(leads: Leads) -> str:
    """Return the entries that would tie sentences to the known mistakes that get them now, to be judged and copied.

    They are plain text, because a table's width must not break the lines of TOML.
    """
    return "\n".join(_entry(each) for each in leads.untied)


def _entry(untied: Untied) -> str:
    """Return the entry that would tie a sentence to all mistakes that get it now. Whether it should is to be judged."""
    says = max((part.strip() for part in untied.sentence.split(FIELD)), key=len)
    lines = [f"# {', '.join(untied.tests)}; {len(untied.mutants)} mutants get it, too"]
    lines += [f"#   {line}" for edit in untied.mutants[:SHOWN] for line in edit.splitlines()]
    lines += ["[[sentence]]", f"says = {json.dumps(says, ensure_ascii=False)}"]
    if len(untied.mistakes) < 3:
        lines.append(f"means = {json.dumps(untied.mistakes, ensure_ascii=False)}")
    else:
        lines += ["means = [", *(f"  {json.dumps(name, ensure_ascii=False)}," for name in untied.mistakes), "]"]
    return "\n".join((*lines, ""))


def _said(exercise: str, text: str, lead: Lead, style: str) -> Text:
    edit = "".join(f"\n    {line}" for line in lead.edit.splitlines())
    return Text.assemble(_headline(exercise, text, style), f"\n    {lead.sentence}", (edit, "cyan"))


def _headline(exercise: str, text: str, style: str) -> Text:
    return Text.assemble((f"\n{exercise}: ", "bold"), (text, style))
