import KymographCore

/// The CapabilityStatement of the search.
enum SearchCapabilities {
    /// The statement in `version`, of an instance that began at `started` and is reached at `base`.
    static func statement(_ version: FHIRVersion, started: Instant, base: String) -> [UInt8] {
        var statement = JSONMembers()
        statement.add("resourceType", "CapabilityStatement")
        statement.add("status", "active")
        statement.add("date", started.text)
        statement.add("kind", "instance")
        statement.add("software", json: object([("name", "kymograph"), ("version", KymographVersion.number)]))
        statement.add(
            "implementation",
            json: object([("description", "Observations of one kymo, for reading"), ("url", base)]))
        statement.add("fhirVersion", number(version))
        if version == .stu3 { statement.add("acceptUnknown", "no") }
        statement.add("format", texts: ["json"])
        statement.add("rest", list: [rest(version)])
        return statement.finished()
    }

    private static func rest(_ version: FHIRVersion) -> [UInt8] {
        var rest = JSONMembers()
        rest.add("mode", "server")
        rest.add(
            "security", json: object([("description", "Authorization: Bearer, with a token of the list of peers")]))
        rest.add("resource", list: [resource(version)])
        return rest.finished()
    }

    private static func resource(_ version: FHIRVersion) -> [UInt8] {
        var resource = JSONMembers()
        resource.add("type", "Observation")
        resource.add("interaction", list: ["read", "search-type"].map { object([("code", $0)]) })
        resource.add("versioning", "versioned")
        resource.add(
            "searchParam",
            list: SearchParameters.known.map { parameter in
                object([("name", parameter.name), ("type", parameter.type), ("documentation", parameter.about)])
            })
        return resource.finished()
    }

    private static func object(_ members: [(name: StaticString, text: String)]) -> [UInt8] {
        var object = JSONMembers()
        for member in members { object.add(member.name, member.text) }
        return object.finished()
    }

    private static func number(_ version: FHIRVersion) -> String {
        switch version {
        case .stu3: "3.0.2"
        case .r4: "4.0.1"
        case .r4b: "4.3.0"
        case .r5: "5.0.0"
        }
    }
}
