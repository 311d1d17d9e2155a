/// An entry of a row as it is read.
struct RowContent {
    let entry: JSONSlice
    let resource: JSONSlice
    let request: EntryRequest
    /// Type of the resource.
    let type: String
    /// Its first identifier.
    let identifier: ServerIdentifier?

    /// Nil when there is no resource or no request.
    init?(_ entry: JSONSlice) {
        guard let resource = entry["resource"], let request = EntryRequest(entry["request"]) else { return nil }
        self.entry = entry
        self.resource = resource
        self.request = request
        type = resource["resourceType"]?.string ?? "Resource"
        // Some types have a list of them, some have one.
        let first = resource["identifier"].flatMap { $0.elements?.first ?? $0 }
        identifier = first.flatMap { [type] in ServerIdentifier(identifier: $0, type: type) }
    }

    /// The identifier of a Patient or Device that the server finds by it, so that others may refer to it.
    var findable: ServerIdentifier? {
        let isFound = request.ifNoneExist != nil || request.method == "PUT" && request.url.contains("?")
        return isFound && (type == "Patient" || type == "Device") ? identifier : nil
    }

    /// Whether it says nothing but what it is: it is there for those that refer to it.
    var isBare: Bool {
        guard findable != nil, request.ifNoneExist != nil else { return false }
        let names = (resource.members ?? []).map(\.name)
        return names.allSatisfy { ["resourceType", "identifier", "type"].contains($0) }
    }
}

/// The `request` of an entry.
struct EntryRequest {
    var method: String
    var url: String
    var ifNoneExist: String?

    init?(_ request: JSONSlice?) {
        guard let members = request?.members else { return nil }
        func text(_ name: String) -> String? { members.first { $0.name == name }?.value.string }
        guard let method = text("method"), let url = text("url") else { return nil }
        self.method = method
        self.url = url
        ifNoneExist = text("ifNoneExist")
    }

    /// What the server is asked to change.
    var target: IdentifierText { IdentifierText(ifNoneExist.map { "\(url)?\($0)" } ?? url) }
}
