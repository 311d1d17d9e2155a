import KymographCore

/// A resource as an entry or a line of an earlier version has it.
struct FormerResource {
    /// How it was to be stored; nil in collections and lines.
    struct Request {
        var method: String
        var url: String
        var ifNoneExist: String?
    }

    let json: FormerJSON
    let members: [FormerJSON.Member]
    let type: String
    let request: Request?
    let fullURL: String?
    /// System and value of its first identifier.
    let identifier: (system: String, value: String)
    /// The whole of a long one.
    let whole: String
    let kind: EntryKind

    /// An entry of a bundle; nil when it is none.
    init?(entry: FormerJSON, isCollection: Bool) {
        guard let resource = entry["resource"] else { return nil }
        let request = entry["request"].flatMap(Request.init)
        guard isCollection || request != nil else { return nil }
        self.init(resource, request: request, fullURL: entry["fullUrl"]?.string)
    }

    /// A resource with an identifier.
    init?(_ json: FormerJSON, request: Request? = nil, fullURL: String? = nil) {
        guard let members = json.members, members.first?.name == "resourceType", let type = members[0].value.string
        else { return nil }
        // Some types have a list of them, some have one.
        guard let own = members.first(where: { $0.name == "identifier" })?.value else { return nil }
        let list = own.elements ?? [own]
        guard let first = list.first, let value = first["value"]?.string else { return nil }
        (self.json, self.members, self.type) = (json, members, type)
        (self.request, self.fullURL) = (request, fullURL)
        identifier = (first["system"]?.string ?? "", value)
        let full = list.first { $0["system"]?.string == "urn:kymograph:full-identifier" }
        whole = value.hasPrefix("sha256:") ? full?["value"]?.string ?? "" : ""
        kind = FormerResource.kind(type, members.map(\.name), request, identifier.system)
    }

    /// The code of its status.
    var status: String? { members.first { $0.name == "status" }?.value.string }

    /// The system of gateways where none is configured.
    private static let gatewaySystem = ObservationOptions().gatewaySystem

    private static func kind(_ type: String, _ names: [String], _ request: Request?, _ system: String) -> EntryKind {
        if type == "Observation" { return .observation }
        guard type == "Patient" || type == "Device" else { return .resource }
        let isFound = request.map { $0.ifNoneExist != nil || $0.url.contains("?") } ?? true
        let isBare = names.allSatisfy { ["resourceType", "identifier", "type"].contains($0) }
        guard isFound, isBare, request == nil || request?.ifNoneExist != nil else {
            return isFound && type == "Device" ? .describedDevice : .resource
        }
        if type == "Patient" { return .patient }
        return names.contains("type") || system == gatewaySystem ? .gateway : .device
    }

    /// Its id; nil when it has none.
    var id: FormerJSON.Member? { members.first { $0.name == "id" } }

    /// The condition under which bundles make a Patient or Device.
    var usualCondition: String {
        IdentifierSearch.condition(system: identifier.system, value: identifier.value)
    }

    /// The id that it would have where the text has none: the digest of its identity.
    var computedID: [UInt8] {
        let value = whole.isEmpty ? identifier.value : whole
        return Array(Digest256.openSSL.resourceID(system: identifier.system, value: value).utf8)
    }
}

extension FormerResource.Request {
    init?(_ request: FormerJSON) {
        guard let method = request["method"]?.string, let url = request["url"]?.string else { return nil }
        (self.method, self.url, ifNoneExist) = (method, url, request["ifNoneExist"]?.string)
    }

    /// How the server was asked to store it.
    var write: ObservationOptions.Write {
        if ifNoneExist != nil { return .conditionalCreate }
        return url.contains("?") ? .conditionalUpdate : .putByID
    }
}
