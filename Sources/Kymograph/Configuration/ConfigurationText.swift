import KymographCore
import KymographTemplates
import Yams

/// The configuration file as text: composes its nodes, or says why it is not YAML.
struct ConfigurationText {
    private let name: String
    private let bytes: [UInt8]
    private let places: TextPlaces
    private let variables: [String: String]

    /// `variables` are those that values may hold.
    init(name: String, bytes: [UInt8], variables: [String: String]) {
        self.name = name
        self.bytes = bytes
        places = TextPlaces(bytes)
        self.variables = variables
    }

    /// The root node; nil for an empty file, and after an error, which `log` gets.
    func root(log: inout ConfigurationLog) -> ConfigurationNode? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let place = places.position(error.byteOffsets.lowerBound)
            log.add(self.error(place, "the file is not UTF-8 here", advice: "save the file as UTF-8"))
            return nil
        }
        do {
            // The basic resolver leaves scalars as they are written; the encoding is named because the default asks the
            // environment and prints to standard output when it finds something.
            let node = try compose(yaml: String(decoding: bytes, as: UTF8.self), .basic, .default, .utf8)
            let file = NodeFile(name: name, places: places, variables: variables)
            return node.map { ConfigurationNode($0, file) }
        } catch {
            log.add(diagnostic(error))
            return nil
        }
    }

    private func error(_ position: SourcePosition, _ message: String, advice: String) -> Diagnostic {
        Diagnostic(.error, file: name, position: position, message: message, advice: advice)
    }

    private func diagnostic(_ failure: any Error) -> Diagnostic {
        switch failure as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
            return syntax(context, problem, mark)
        case .composer(_, let problem, let mark, _):
            let advice =
                problem.contains("another document")
                ? "keep one document; remove what follows the second '---'" : "define the anchor before its alias"
            return error(place(mark), "not valid YAML: \(problem)", advice: advice)
        case .reader(let problem, let offset, _, let text):
            let before = text.prefix(offset ?? 0).utf8.count
            return error(places.position(before), "not valid YAML: \(problem)", advice: "remove the character")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
            return error(
                place(context.mark), "given more than once: \(names)",
                advice: "keep one of each; this is the first")
        default:
            return error(.start, "not valid YAML: \(failure)", advice: "check the file")
        }
    }

    private func syntax(_ context: YamlError.Context?, _ problem: String, _ mark: Mark) -> Diagnostic {
        let position = place(mark)
        let isTab = position.offset < bytes.count && bytes[position.offset] == 0x09
        let began = context.map { " \($0.text) that began in line \($0.mark.line)" } ?? ""
        return error(
            position, "not valid YAML: \(problem)\(began)",
            advice: isTab ? "indent with blanks, not with tabs" : "check indentation, quotes and brackets just before")
    }

    private func place(_ mark: Mark) -> SourcePosition {
        places.position(line: mark.line, column: mark.column)
    }
}
