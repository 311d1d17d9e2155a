import FoundationEssentials

/// The Swift file that holds folders: names as string literals, and the content of each folder's files as one
/// compressed literal, a tenth of it.
struct GeneratedSource {
    let folders: [CatalogueFolder]

    /// The whole file of the catalogue.
    var text: String {
        let elements = folders.flatMap { element($0, end: ",") }
        return file(of: "mappings", ["    static let mappings: [EmbeddedFolder] = ["] + elements + ["    ]"])
    }

    /// The whole file of the console, which is the only folder.
    var console: String {
        file(of: "console", ["    static let console ="] + folders.prefix(1).flatMap { element($0, end: "") })
    }

    private func file(of root: String, _ members: [String]) -> String {
        let head = ["// Generated from \(root)/ by EmbedMappings. Do not edit.", "", "extension EmbeddedFolder {"]
        return (head + members + ["}", ""]).joined(separator: "\n")
    }

    private func element(_ folder: CatalogueFolder, end: String) -> [String] {
        let files = folder.files.map { file in
            "            EmbeddedFile(path: \(literal(file.path)), count: \(file.text.utf8.count)),"
        }
        return ["        EmbeddedFolder(name: \(literal(folder.name)), files: ["] + files
            + ["        ], content: \"\(content(of: folder))\")\(end)"]
    }

    /// The files one behind the other, compressed, in base64.
    private func content(of folder: CatalogueFolder) -> String {
        let bytes = folder.files.flatMap { Array($0.text.utf8) }
        return Data(ZstdFrame.of(bytes)).base64EncodedString()
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
