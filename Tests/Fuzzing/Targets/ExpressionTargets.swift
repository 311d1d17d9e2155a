@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// Expressions of mappings and what they are searched in: a line with the expression, and the document behind it.
extension FuzzTarget {
    static let expressions = [
        FuzzTarget(name: "jsonpath", longest: 1_024) { evaluate($0, .jsonPath) },
        FuzzTarget(name: "jmespath", longest: 1_024) { evaluate($0, .jmesPath) },
        FuzzTarget(name: "pattern", longest: 512, run: pattern),
    ]

    /// An expression gives lines of JSON, the same each time.
    private static func evaluate(_ bytes: [UInt8], _ language: ExpressionLanguage) {
        var input = FuzzInput(bytes)
        let expression = String(decoding: input.part(), as: UTF8.self)
        let document = input.rest
        let outcome = ExpressionOutcome(expression, language, document)
        for line in outcome.lines where !hasSurrogate(line) {
            demand((try? JSONTree(parsing: line)) != nil, "no JSON: \(String(decoding: line, as: UTF8.self))")
        }
        guard language == .jmesPath, outcome.error == nil else { return }
        // A limit may be nearer for one of two that mean the same.
        let piped = ExpressionOutcome("(\(expression)) | @", .jmesPath, document)
        demand(piped.error != nil || piped.lines == outcome.lines, "| @ gives \(piped), and not \(outcome)")
    }

    private static func hasSurrogate(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).lowercased().contains("\\ud")
    }

    /// A pattern finds the same in a group, twice in a row, and as one of two alternatives.
    private static func pattern(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let flags = Array(input.choice(of: ["", "i", "m", "s", "im", "is", "ms", "ims"]).utf8)
        let pattern = String(decoding: input.part(), as: UTF8.self)
        let text = input.rest.filter { $0 < 0x80 } + Array("é".utf8)
        guard let found = match(pattern, flags, text) else { return }
        for other in ["(?:\(pattern))", "(?:(?:\(pattern))|(?:\(pattern)))", "(?:(?:\(pattern)){1,2})"] {
            // A pattern that is nearly too large is too large as a part of another one.
            guard let again = match(other, flags, text) else { continue }
            demand(again == found, "/\(pattern)/: \(found), /\(other)/: \(again)")
        }
    }

    private static func match(_ pattern: String, _ flags: [UInt8], _ text: [UInt8]) -> Bool? {
        var program = PatternProgram()
        guard let number = try? PatternCompiler.compile(Array(pattern.utf8), flags: flags, into: &program) else {
            return nil
        }
        var matcher = PatternMatcher(program)
        let storage = PaddedBytes(copying: text)
        return matcher.matches(number, storage.view)
    }
}

/// What an expression gives.
private struct ExpressionOutcome: CustomStringConvertible {
    var lines: [[UInt8]] = []
    var error: String?

    init(_ expression: String, _ language: ExpressionLanguage, _ document: [UInt8]) {
        do {
            var runner = try ExpressionRunner(expression, language: language)
            let first = try runner.run(document)
            let second = try runner.run(document)
            demand(first == second, "it gives something else the second time")
            lines = first.split(separator: 0x0A).map(Array.init)
        } catch {
            self.error = "\(error)"
        }
    }

    var description: String { error ?? lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
}
