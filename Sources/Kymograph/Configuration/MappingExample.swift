/// One test of a mapping: a payload, and what it must become.
package struct MappingExample: Sendable, Equatable {
    /// How the payload is written down.
    package enum Kind: String, Sendable {
        /// The file is the payload.
        case json
        /// The file spells the payload's bytes in hexadecimal.
        case hex
        /// The file is a message of HL7 v2, whose segments may be lines.
        case hl7
    }

    /// File name without its endings.
    package var name: String
    /// How ``input`` is written.
    package var kind: Kind
    /// Content of `<name>.in.json`, `<name>.in.hex` or `<name>.in.hl7`.
    package var input: [UInt8]
    /// Content of `<name>.out.json`, or nil when nobody has stated yet what is expected.
    package var output: [UInt8]?

    /// Makes an example.
    package init(name: String, kind: Kind, input: [UInt8], output: [UInt8]? = nil) {
        self.name = name
        self.kind = kind
        self.input = input
        self.output = output
    }

    /// The bytes that a device would send.
    ///
    /// - Throws: ``MappingFilesError/invalidHex(path:line:)``, whose path is the example's file name.
    package func payload() throws(MappingFilesError) -> [UInt8] {
        switch kind {
        case .json, .hl7: return input
        case .hex:
            do {
                return try HexText.decode(input)
            } catch {
                throw .invalidHex(path: "\(name).in.hex", line: error.line)
            }
        }
    }

    /// Whether `path`, in a mapping's folder, is named as an example is.
    static func isExample(_ path: String) -> Bool {
        [".out.json", ".in.json", ".in.hex", ".in.hl7"].contains { path.hasSuffix($0) }
    }

    /// Joins files `examples/…` of the mapping `folder` into examples, in byte order of their names.
    static func pair(
        _ files: [(path: String, bytes: [UInt8])], folder: String
    ) throws(MappingFilesError) -> [MappingExample] {
        var inputs: [String: MappingExample] = [:]
        var outputs: [String: [UInt8]] = [:]
        for file in files {
            let name = String(file.path.drop { $0 != "/" }.dropFirst())
            if let name = stem(of: name, ending: ".out.json") {
                outputs[name] = file.bytes
            } else if let name = stem(of: name, ending: ".in.json") {
                inputs[name] = MappingExample(name: name, kind: .json, input: file.bytes)
            } else if let name = stem(of: name, ending: ".in.hex") {
                inputs[name] = MappingExample(name: name, kind: .hex, input: file.bytes)
            } else if let name = stem(of: name, ending: ".in.hl7") {
                inputs[name] = MappingExample(name: name, kind: .hl7, input: file.bytes)
            } else {
                throw .unknownExample(path: "\(folder)/\(file.path)")
            }
        }
        return try join(inputs, outputs, folder: folder)
    }

    private static func join(
        _ inputs: [String: MappingExample], _ outputs: [String: [UInt8]], folder: String
    ) throws(MappingFilesError) -> [MappingExample] {
        if let orphan = outputs.keys.sorted().first(where: { inputs[$0] == nil }) {
            throw .missingFile(path: "\(folder)/examples/\(orphan).in.json", inExamples: true)
        }
        let joined = inputs.values.map { input in
            var example = input
            example.output = outputs[input.name]
            return example
        }
        return joined.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func stem(of name: String, ending: String) -> String? {
        name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
    }
}

/// Bytes spelled in hexadecimal: pairs of digits, white space between bytes, `#` to the end of the line is a comment.
enum HexText {
    /// The text is not hexadecimal in this line, from 1.
    struct Invalid: Error {
        var line: Int
    }

    /// The bytes that `text` spells.
    static func decode(_ text: [UInt8]) throws(Invalid) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            try append(line.prefix { $0 != UInt8(ascii: "#") }, number: index + 1, to: &bytes)
        }
        return bytes
    }

    private static func append(
        _ line: some Sequence<UInt8>, number: Int, to bytes: inout [UInt8]
    ) throws(Invalid) {
        var high: UInt8?
        for byte in line {
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") {
                guard high == nil else { throw Invalid(line: number) }
                continue
            }
            guard let digit = digit(byte) else { throw Invalid(line: number) }
            if let upper = high {
                bytes.append(upper << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { throw Invalid(line: number) }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
