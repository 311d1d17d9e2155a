import KymographCore
import KymographTemplates

/// Operations that are about one expression, or one message.
extension ConformanceCheck {
    /// What the expression selects, one JSON text for each token; nil when it fails.
    private func selected() -> [String]? {
        guard let expression = subject.expression, let input = subject.node["input"],
            var runner = try? ExpressionRunner(expression.text, language: expression.language),
            let lines = try? runner.run(Array(JSONText.write(input).utf8))
        else { return nil }
        return String(decoding: lines, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The tokens of a result: of JMESPath, the elements of a projection, and nothing for null.
    private func tokens() -> [String] {
        let lines = selected() ?? []
        guard subject.expression?.language == .jmesPath else { return lines }
        let isProjection = subject.expression?.text.contains("[]") ?? false
        guard isProjection, let array = try? JSONText.parse(JSONText.data(lines.joined())).elements else {
            return lines == ["null"] ? [] : lines
        }
        return array.map(JSONText.write)
    }

    mutating func select() {
        let tokens = tokens()
        if let wanted = subject.expected["tokens"]?.elements {
            expect(tokens == wanted.map(JSONText.write), "\(wanted.map(JSONText.write)) expected, found \(tokens)")
        } else if subject.expected["error"] != nil {
            expect(tokens.count > 1, "several tokens expected, found \(tokens)")
        } else if let wanted = subject.expected["token"] {
            let found = tokens.isEmpty ? ["null"] : tokens
            expect(found == [JSONText.write(wanted)], "\(JSONText.write(wanted)) expected, found \(tokens)")
        }
    }

    /// Expressions that cannot be parsed, as a mapping has them.
    mutating func parse() {
        guard let expression = subject.expression else { return expect(false, "no expression") }
        let written = expression.text.isEmpty ? "\"\"" : "\"\(expression.text)\""
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"CalculatedContent","template":{"typeName":"t",
            "typeMatchExpression":{"value":\(written),"language":"JmesPath"},"deviceIdExpression":"$.d",
            "timestampExpression":"$.t"}}]}
            """
        let errors = ConformanceCheck.load(device, .none).diagnostics.filter { $0.severity == .error }
        expect(errors.count == 1, "one error expected, found \(errors.map(\.text))")
        guard let words = subject.expected["error"]?["message_starts"]?.string else { return }
        expect(errors.contains { $0.message.hasPrefix(words) }, "'\(words)' expected, found \(errors.map(\.text))")
    }

    /// What is made of bodies that are no message: nothing, and it is counted unless there was nothing.
    mutating func envelope() {
        let body = subject.node["input"]?["body_utf8"]?.string ?? ""
        guard let run = try? MappingRun([TestTemplate.jsonPath()]) else { return expect(false, "no mapping") }
        let outcome = run.line(body)
        let isError = subject.expected["error"] != nil
        expect(outcome.readings.isEmpty, "no reading expected")
        expect(outcome.reasons == (isError ? [.invalidJSON] : []), "found \(outcome.reasons)")
    }

    /// Messages name the place when there is one, and are never empty.
    mutating func formatError() {
        let message = subject.node["input"]?["message"]?.string ?? "something"
        var log = DiagnosticLog(file: "device.json")
        log.error(SourcePosition(offset: 0, line: 1, column: 1), message)
        let text = log.all.map(\.text).joined()
        expect(text.contains(message) && text.contains(":1:1:"), "the message and its place expected, found \(text)")
    }
}
