import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A rule, and what it means, said in another way than the program has it.
struct ModelRule {
    private let device: String?
    private let kind: String?
    /// Values above this, where it is said by an expression.
    private let over: Int?
    private let action: ReadingRule.Action
    private let adds: Int
    private let tag: String?
    private let number: Int

    /// A random rule, number `number`, about values around `value`.
    init(number: Int, value: Int, using generator: inout SeededGenerator) {
        func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        self.number = number
        device = once(in: 2) ? RuleSequence.devices.randomElement(using: &generator) : nil
        let actions: [ReadingRule.Action] = [.accept, .drop, .reject, .rewrite, .rewrite, .rewrite]
        action = actions.randomElement(using: &generator) ?? .rewrite
        // Of a level, another value would be another reading.
        adds = action == .rewrite && once(in: 2) ? 1_000 : 0
        kind = adds > 0 ? "spot" : once(in: 3) ? "level" : nil
        tag =
            action == .rewrite && (adds == 0 || once(in: 2))
            ? ["x", "urn:s|y", "z"].randomElement(using: &generator) : nil
        over = once(in: 2) ? Int.random(in: 0...value, using: &generator) : nil
    }

    /// As the program has it.
    var rule: ReadingRule {
        var rule = ReadingRule(name: "rule-\(number)")
        rule.action = action
        rule.devices = device.map { [NamePattern($0)] } ?? []
        rule.types = kind.map { [$0] } ?? []
        rule.condition = over.flatMap { try? RuleExpression("values.x > `\($0)` && deviceId != 'none'") }
        if number % 2 == 0 {
            rule.tags = tag.map { [$0] } ?? []
        } else {
            // What an expression gives is the same tag.
            rule.computedTags = tag.map { [ModelRule.computed($0)] } ?? []
        }
        if adds > 0, let expression = try? RuleExpression("add(values.x, `\(adds)`)") {
            rule.changes = [RuleChange(name: "x", content: .expression(expression))]
        }
        return rule
    }

    private static func computed(_ tag: String) -> ComputedTags {
        let parts = tag.split(separator: "|")
        let text = "not_null(values.none, '\(parts[parts.count - 1])')"
        guard let expression = try? RuleExpression(text) else { preconditionFailure("\(text) is no expression") }
        return ComputedTags(expression, system: parts.count > 1 ? String(parts[0]) : nil)
    }

    /// What `rules` make of a reading, its value and its tags; nil when it is not taken.
    static func decide(
        _ rules: [ModelRule], _ moment: RuleSequence.Moment, _ value: Int, _ tags: [String]
    ) -> (value: Int, tags: Set<String>)? {
        var (value, tags) = (value, Set(tags))
        for rule in rules {
            guard rule.device == nil || rule.device == moment.device, rule.kind == nil || rule.kind == moment.kind,
                rule.over.map({ value > $0 }) ?? true
            else { continue }
            switch rule.action {
            case .accept: return (value, tags)
            case .drop, .reject: return nil
            case .rewrite:
                value += rule.adds
                if let tag = rule.tag { tags.insert(tag) }
            }
        }
        return (value, tags)
    }
}
