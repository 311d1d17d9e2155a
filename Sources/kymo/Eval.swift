import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo eval`: one expression on one document.
struct Eval: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval",
        abstract: "Evaluate a JSONPath or JMESPath expression, as mappings have them, on a JSON document.",
        discussion: """
            JSONPath prints each token that is selected on a line of its own. JMESPath prints the value, null when \
            there is nothing. Exits with status 65 when the document is no JSON, 70 when the expression fails \
            on it, and 78 when the expression is wrong.

            Example: kymo eval --language jmespath 'add(systolic, `1`)' message.json
            """)

    @Argument(help: "The expression.")
    var expression: String

    @Argument(help: "File with one JSON document; standard input by default.", completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Language of the expression. Default: jsonpath.", valueName: "jsonpath|jmespath"),
        transform: Eval.language)
    var language = ExpressionLanguage.jsonPath

    @Option(help: CompatibilityOption.help)
    var compatibility: String?

    private static func language(_ name: String) throws -> ExpressionLanguage {
        if let known = ExpressionLanguage(named: name) { return known }
        throw ValidationError("'\(name)' is not one of jsonpath, jmespath")
    }

    func run() throws {
        var runner = try compiled()
        let document = try InputFile.read(file, "name a file with one JSON document")
        try StandardOutput.write(try result(of: &runner, document))
    }

    private func compiled() throws -> ExpressionRunner {
        let compatibility = try CompatibilityOption.parse(compatibility)
        do throws(ExpressionError) {
            return try ExpressionRunner(expression, language: language, compatibility: compatibility)
        } catch {
            throw complaint("the expression is wrong", error.message, at: error.offset, code: ExitStatus.config)
        }
    }

    private func result(of runner: inout ExpressionRunner, _ document: [UInt8]) throws -> [UInt8] {
        do throws(ExpressionRunner.Failure) {
            return try runner.run(document)
        } catch {
            switch error {
            case .document(let reason, let place):
                throw StandardError.exit(
                    "\(file ?? "standard input"):\(place.line):\(place.column): the document is refused: "
                        + "\(reason.name) at byte \(place.offset)", code: ExitStatus.dataError)
            case .evaluation(let message, let offset):
                throw complaint("the expression fails", message, at: offset, code: ExitStatus.software)
            }
        }
    }

    /// A message that shows the expression, with a mark under the place.
    private func complaint(_ what: String, _ message: String, at offset: Int, code: Int32) -> ExitCode {
        let before = String(decoding: Array(expression.utf8).prefix(offset), as: UTF8.self)
        let shown = expression.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        return StandardError.exit(
            """
            \(what) at byte \(offset): \(message)
              \(String(shown))
              \(String(repeating: " ", count: before.count))^
            """, code: code)
    }
}
