import KymographCore
import KymographTemplates

/// What an OperationOutcome says.
struct ServerOutcome: Sendable {
    /// Codes of its issues.
    var codes: [String] = []
    /// Its issues in words, at most 500 characters.
    var text = ""

    /// Reads an OperationOutcome; nil when the node is none.
    init?(_ node: JSONNode?) {
        guard let node, node.child("resourceType")?.string == "OperationOutcome" else { return nil }
        let issues = node.child("issue")?.elements ?? []
        codes = issues.compactMap { $0.child("code")?.string }
        text = String(issues.map(ServerOutcome.text).joined(separator: "; ").prefix(500))
    }

    /// Reads a body; nil when it is no OperationOutcome.
    init?(body: [UInt8]) { self.init(JSONNode.answer(body)) }

    private static func text(_ issue: JSONNode) -> String {
        let words =
            issue.child("diagnostics")?.string ?? issue.child("details")?.child("text")?.string
            ?? issue.child("details")?.child("coding")?.elements?.first?.child("display")?.string
        let places = (issue.child("expression") ?? issue.child("location"))?.elements?.compactMap(\.string) ?? []
        let place = places.isEmpty ? "" : " (\(places.joined(separator: ", ")))"
        return [issue.child("code")?.string, words].compactMap { $0 }.joined(separator: ": ") + place
    }
}
