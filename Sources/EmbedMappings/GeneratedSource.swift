/// The Swift file that holds the catalogue as string literals: they cost the compiler nothing to check, and the binary
/// nothing to load.
struct GeneratedSource {
    let folders: [CatalogueFolder]

    /// The whole file.
    var text: String {
        var lines = [
            "// Generated from mappings/ by EmbedMappings. Do not edit.", "",
            "extension EmbeddedMapping {", "    static let all: [EmbeddedMapping] = [",
        ]
        for folder in folders {
            lines.append("        EmbeddedMapping(name: \(literal(folder.name)), files: [")
            for file in folder.files {
                lines.append("            EmbeddedFile(path: \(literal(file.path)), text: \(literal(file.text))),")
            }
            lines.append("        ]),")
        }
        lines += ["    ]", "}", ""]
        return lines.joined(separator: "\n")
    }

    /// A one-line string literal that spells every character that Swift would interpret.
    private func literal(_ text: String) -> String {
        var spelled = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": spelled += "\\\""
            case "\\": spelled += "\\\\"
            case "\n": spelled += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                spelled += "\\u{\(String(scalar.value, radix: 16))}"
            default: spelled.unicodeScalars.append(scalar)
            }
        }
        return spelled + "\""
    }
}
