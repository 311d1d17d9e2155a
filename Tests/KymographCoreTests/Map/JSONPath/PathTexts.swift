/// Writes the model's paths as expressions, in one of the ways they can be written.
struct PathWriter {
    var random: WindowRandom

    mutating func path(_ path: ModelPath, sign: String) -> String {
        var text = sign
        for step in path.steps { text += write(step, behind: text, inFilter: sign == "@") }
        return text
    }

    private mutating func write(_ step: ModelStep, behind: String, inFilter: Bool) -> String {
        switch step {
        case .name(let name, let descends):
            if random.once(in: 2) { return "\(descends ? ".." : ".")\(name)" }
            return bracketed(quoted(name), descends, behind)
        case .names(let names, let descends):
            return bracketed(names.map { quoted($0) }.joined(separator: ","), descends, behind)
        case .members: return ".*"
        case .everything: return "..*"
        case .index(let index, let descends): return bracketed("\(index)", descends, behind)
        case .indexes(let indexes): return bracketed(indexes.map { "\($0)" }.joined(separator: " , "), false, behind)
        case .slice(let first, let end, let step):
            let parts = [first, end].map { $0.map { "\($0)" } ?? "" }.joined(separator: ":")
            return bracketed(parts + (step.map { ":\($0)" } ?? ""), false, behind)
        case .elements: return bracketed("*", false, behind)
        case .filter(let filter, let descends): return bracketed("?(\(condition(filter)))", descends, behind)
        }
    }

    private mutating func bracketed(_ content: String, _ descends: Bool, _ behind: String) -> String {
        let dots = descends ? ".." : random.once(in: 4) ? "." : ""
        // Behind the root's sign a parenthesis would be part of a name.
        let isRound = random.once(in: 5) && !(dots.isEmpty && behind == "$")
        let space = random.once(in: 6) ? " " : ""
        return dots + (isRound ? "(" : "[") + space + content + space + (isRound ? ")" : "]")
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    private mutating func condition(_ condition: ModelCondition) -> String {
        let space = random.once(in: 4) ? "" : " "
        switch condition {
        case .exists(let path): return side(.path(path)) + space
        case .group(let inner): return "(\(self.condition(inner)))\(space)"
        case .compares(let left, let operation, let right):
            // Numbers end at a blank or a closing parenthesis.
            return side(left) + " " + operation + space + side(right) + " "
        case .joined(let conditions, let joiners):
            var text = self.condition(conditions[0])
            for (joiner, condition) in zip(joiners, conditions.dropFirst()) {
                text += joiner + space + self.condition(condition)
            }
            return text
        }
    }

    private mutating func side(_ side: ModelSide) -> String {
        switch side {
        case .path(let path): self.path(path, sign: path.fromRoot ? "$" : "@")
        case .text(let text): quoted(text)
        case .number(let digits): digits
        case .word(let word): word
        case .pattern(let pattern, let flags): "/\(pattern)/\(flags)"
        }
    }
}

/// Writes the model's documents as JSON, with white space, escapes and members that a later one replaces.
struct DocumentWriter {
    var random: WindowRandom
    var text = ""

    mutating func write(_ node: DocumentNode) {
        node.place = "@\(text.utf8.count)"
        switch node.kind {
        case .object: container("{", "}", node) { $0.member($1) }
        case .array: container("[", "]", node) { $0.write($1.node) }
        case .string: string(node.text)
        default: text += node.text
        }
    }

    private mutating func container(
        _ open: String, _ close: String, _ node: DocumentNode,
        _ child: (inout DocumentWriter, (name: String, node: DocumentNode)) -> Void
    ) {
        text += open
        for (number, element) in node.children.enumerated() {
            if number > 0 { text += random.once(in: 5) ? " , " : "," }
            child(&self, element)
        }
        text += close
    }

    private mutating func member(_ member: (name: String, node: DocumentNode)) {
        if random.once(in: 15) {
            // The reference takes the last of several.
            string(member.name)
            text += [":0,", ":{\"a\":1},", ":[2],"][random.int(0...2)]
        }
        string(member.name)
        text += random.once(in: 5) ? " : " : ":"
        write(member.node)
    }

    private mutating func string(_ content: String) {
        text += "\""
        for character in content.unicodeScalars {
            if character == "\"" || character == "\\" {
                text += "\\\(character)"
            } else if character.isASCII, character.value >= 32, random.once(in: 30) {
                text += "\\u00\(String(character.value, radix: 16))"
            } else {
                text.unicodeScalars.append(character)
            }
        }
        text += "\""
    }
}
