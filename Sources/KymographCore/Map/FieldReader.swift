/// Reads the fields of one JSON object of a mapping file, noting what is missing, unknown or of the wrong kind.
///
/// Field names are matched exactly, else ignoring case, as the reference does (mapping dialect, section 2.1).
struct FieldReader {
    private let node: JSONNode
    private let what: String

    /// Reads `node`, which messages call `what`; anything but an object is an error.
    init(_ node: JSONNode, what: String, log: inout DiagnosticLog) {
        self.node = node
        self.what = what
        if node.members == nil { log.error(node.position, "\(what) must be an object, found \(node.kind)") }
    }

    /// The last member of this name, or nil.
    func member(_ name: String) -> JSONNode.Member? {
        let members = node.members ?? []
        return members.last { $0.name == name } ?? members.last { $0.name.lowercased() == name.lowercased() }
    }

    /// Where the object is.
    var position: SourcePosition { node.position }

    /// Where the value of `name` is, or the object when there is none.
    func position(of name: String) -> SourcePosition { member(name)?.node.position ?? node.position }

    /// The value of `name`, which must be there, not null, and of `kind` (nil for any).
    func required(_ name: String, _ kind: String?, log: inout DiagnosticLog) -> JSONNode? {
        guard let member = member(name) else {
            let pascal = name.prefix(1).uppercased() + name.dropFirst()
            // Nothing more to say when the node is no object: that was noted.
            if node.members != nil {
                log.error(
                    node.position, "Required property '\(pascal)' not found in JSON",
                    advice: "add \"\(name)\" to \(what)")
            }
            return nil
        }
        guard !member.node.isNull else {
            log.error(member.node.position, "'\(name)' expects a value but got null")
            return nil
        }
        return checked(member, kind, log: &log)
    }

    /// The value of `name` when it is there and not null; it must be of `kind` (nil for any).
    func optional(_ name: String, _ kind: String?, log: inout DiagnosticLog) -> JSONNode? {
        guard let member = member(name), !member.node.isNull else { return nil }
        return checked(member, kind, log: &log)
    }

    private func checked(_ member: JSONNode.Member, _ kind: String?, log: inout DiagnosticLog) -> JSONNode? {
        guard let kind, member.node.kind != kind else { return member.node }
        log.error(member.node.position, "'\(member.name)' must be \(kind), found \(member.node.kind)")
        return nil
    }

    /// The text of `name`, which must be there.
    func requiredString(_ name: String, log: inout DiagnosticLog) -> String? {
        required(name, "a string", log: &log)?.string
    }

    /// Notes every member whose name is not among `known`.
    func refuseUnknown(_ known: [String], log: inout DiagnosticLog) {
        let lowered = Set(known.map { $0.lowercased() })
        for member in node.members ?? [] where !lowered.contains(member.name.lowercased()) {
            log.error(
                member.position, "Could not find member '\(member.name)' on \(what)",
                advice: NearestName.advice(
                    for: member.name, among: known, otherwise: "known are \(known.joined(separator: ", "))"))
        }
    }
}
