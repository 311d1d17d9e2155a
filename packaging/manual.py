#!/usr/bin/env python3
"""Writes manual pages (man(7)) from what kymo itself says of its commands: `manual.py KYMO FOLDER`.

One page for kymo and one for each of its commands; those below a command have a section in its page. The date is that of
SOURCE_DATE_EPOCH.
"""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

WIDTH = 76


def escaped(text):
    """Text as roff reads it: hyphens of options stay hyphens, and no line is taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    return text


def protected(line):
    return "\\&" + line if line.startswith((".", "'")) else line


def prose(text):
    """A paragraph as lines of source."""
    lines = textwrap.wrap(escaped(text), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [protected(line) for line in lines]


def discussion(text):
    """Paragraphs; lines that begin with blanks are shown as they are."""
    lines = []
    for block in text.split("\n\n"):
        written = block.split("\n")
        words = [line for line in written if not line.startswith("  ")]
        if len(words) == len(written):
            lines += [".PP"] + prose(" ".join(written))
            continue
        lines.append(".PP")
        for line in written:
            if line.startswith("  "):
                lines += [".RS 4", ".nf", protected(escaped(line.strip())), ".fi", ".RE"]
            else:
                lines += prose(line)
    return lines


def dashes(name):
    return ("-" if name["kind"] in ("short", "longWithSingleDash") else "--") + name["name"]


def visible(command):
    return [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]


def commands(command):
    return [found for found in command.get("subcommands", []) if found["shouldDisplay"] and found["commandName"] != "help"]


def value(argument):
    return f"\\fI{escaped(argument['valueName'])}\\fR"


def synopsis(command, name):
    """All options in one line, as `kymo help` has them."""
    parts = []
    if commands(command):
        parts.append("\\fIcommand\\fR")
    for argument in visible(command):
        if argument["kind"] == "positional":
            text = value(argument)
        else:
            text = f"\\fB{escaped(dashes(argument['preferredName']))}\\fR"
            if argument["kind"] == "option":
                text += f"\\~{value(argument)}"
        if argument["isRepeating"]:
            text += "\\~.\\|.\\|."
        parts.append(f"[{text}]" if argument["isOptional"] else text)
    lines = [f".SY \"{escaped(name)}\""]
    return lines + [protected(part) for part in parts] + [".YS"]


def option(argument):
    if argument["kind"] == "positional":
        head = value(argument)
    else:
        names = ", ".join(f"\\fB{escaped(dashes(name))}\\fR" for name in argument["names"])
        head = names + (f" {value(argument)}" if argument["kind"] == "option" else "")
    text = argument.get("abstract", "")
    if argument.get("discussion"):
        text += "\n\n" + argument["discussion"]
    if argument.get("defaultValue") and "efault" not in text:
        text += f" Default: {argument['defaultValue']}."
    lines = [".TP", protected(head)]
    for number, block in enumerate(text.split("\n\n")):
        lines += ([".IP"] if number else []) + prose(" ".join(block.split()))
    return lines


def options(command):
    """Options in the sections that `kymo help` has them in."""
    lines, section = [], None
    for argument in visible(command):
        if argument.get("sectionTitle") != section:
            section = argument.get("sectionTitle")
            lines.append(f".SS {escaped(section or 'Other')}")
        lines += option(argument)
    return lines


def described(command):
    """What a page or a section says of one command."""
    lines = [".PP"] + prose(command.get("abstract", ""))
    if command.get("discussion"):
        lines += discussion(command["discussion"])
    return lines


def page(command, name, title, others):
    version = os.environ.get("KYMO_VERSION", "")
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    lines = [f".TH {escaped(title.upper())} 1 {date} \"kymo {escaped(version)}\" \"User Commands\""]
    abstract = command.get("abstract", "").rstrip(".")
    lines += [".SH NAME", f"{escaped(title)} \\- {escaped(abstract)}", ".SH SYNOPSIS"]
    lines += synopsis(command, name)
    lines += [".SH DESCRIPTION"] + described(command)
    lines += [".SH OPTIONS"] + options(command)
    below = commands(command)
    if below:
        lines.append(".SH COMMANDS")
    for found in below:
        if name == "kymo":
            lines += [".TP", f"\\fB{escaped('kymo-' + found['commandName'])}\\fR(1)"] + prose(found.get("abstract", ""))
            continue
        inner = f"{name} {found['commandName']}"
        lines += [f".SS {escaped(inner)}"] + synopsis(found, inner) + described(found)
        for argument in visible(found):
            lines += option(argument)
    lines.append(".SH SEE ALSO")
    pages = [f"\\fB{escaped(other)}\\fR(1)" for other in others if other != title]
    lines += [f"{found}," for found in pages[:-1]] + pages[-1:]
    # A heading begins a paragraph by itself.
    kept = [line for before, line in zip([""] + lines, lines) if line != ".PP" or not before.startswith((".SH", ".SS"))]
    return "\n".join(kept) + "\n"


def main():
    kymo, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    told = subprocess.run([kymo, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    root = json.loads(told)["command"]
    titles = ["kymo"] + [f"kymo-{command['commandName']}" for command in commands(root)]
    (folder / "kymo.1").write_text(page(root, "kymo", "kymo", titles), encoding="utf-8")
    for command in commands(root):
        name = command["commandName"]
        text = page(command, f"kymo {name}", f"kymo-{name}", ["kymo"])
        (folder / f"kymo-{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
