/// Finds the References in a resource of an earlier version, however deep, in their order.
struct FormerReferences {
    /// A Reference by URL or by identifier.
    struct Found {
        /// The members that name its target.
        var named: Range<Int>
        var url: String?
        var identifier: (system: String, value: String)?
        /// The type that it states, or that its member has.
        var type: String?
        var statesType = false
    }

    private static let members: Set<String> = ["reference", "type", "identifier", "display", "id", "extension"]

    private(set) var found: [Found] = []

    /// Looks at the member called `name`.
    mutating func visit(_ value: FormerJSON, _ name: String) {
        guard value.isNested else { return }
        if let elements = value.elements {
            for element in elements { visit(element, name) }
            return
        }
        guard let members = value.members else { return }
        if let reference = FormerReferences.reference(members, name) {
            found.append(reference)
        } else {
            // What a panel of STU3 says of a member stands one level deeper.
            for member in members { visit(member.value, member.name == "target" ? name : member.name) }
        }
    }

    /// The Reference that an object is; nil when it is none. What names the target comes first in it.
    private static func reference(_ members: [FormerJSON.Member], _ name: String) -> Found? {
        guard !members.isEmpty, members.allSatisfy({ Self.members.contains($0.name) }) else { return nil }
        func range(_ count: Int) -> Range<Int> {
            members[0].nameRange.lowerBound..<members[count - 1].value.range.upperBound
        }
        if members[0].name == "reference", let url = members[0].value.string {
            return Found(named: range(1), url: url)
        }
        let statesType = members[0].name == "type"
        let place = statesType ? 1 : 0
        guard place < members.count, members[place].name == "identifier",
            let value = members[place].value["value"]?.string
        else { return nil }
        let identifier = (system: members[place].value["system"]?.string ?? "", value: value)
        return Found(
            named: range(place + 1), identifier: identifier,
            type: statesType ? members[0].value.string : type(of: name), statesType: statesType)
    }

    /// What members of this name refer to, where a Reference does not state it.
    private static func type(of name: String) -> String? {
        switch name {
        case "subject", "patient": "Patient"
        case "device": "Device"
        case "encounter", "context": "Encounter"
        case "hasMember", "related": "Observation"
        default: nil
        }
    }
}
