import KymographCore
import KymographTemplates
import Testing

/// What an expression gives for a document: JSON, or the kind of error.
enum JMESPathOutcome {
    /// The result as compact JSON; `syntax: …` when the expression does not compile, `fails: …` when it fails.
    static func of(_ expression: String, _ document: String) -> String {
        do {
            var runner = try ExpressionRunner(expression, language: .jmesPath)
            return String(decoding: try runner.run(Array(document.utf8)).dropLast(), as: UTF8.self)
        } catch let error as ExpressionError {
            return "syntax: \(error.message) at \(error.offset)"
        } catch let error as ExpressionRunner.Failure {
            guard case .evaluation(let message, _) = error else { return "\(error)" }
            return "fails: \(message)"
        } catch {
            return "\(error)"
        }
    }

    /// Whether `outcome` is what a table demands: the same JSON, or an error that has its words.
    static func matches(_ outcome: String, _ expected: String) -> Bool {
        for kind in ["syntax", "fails"] where expected.hasPrefix(kind) {
            let words = expected.dropFirst(kind.count).drop { $0 == ":" || $0 == " " }
            return outcome.hasPrefix("\(kind):") && (words.isEmpty || outcome.contains(words))
        }
        return outcome == expected
    }
}

/// Expressions over one document, and what each must give.
struct JMESPathTable: CustomTestStringConvertible {
    var title: String
    var document: String
    var cases: [(expression: String, expected: String)]

    init(_ title: String, _ document: String, _ cases: [(String, String)]) {
        self.title = title
        self.document = document
        self.cases = cases.map { (expression: $0.0, expected: $0.1) }
    }

    var testDescription: String { title }
}
