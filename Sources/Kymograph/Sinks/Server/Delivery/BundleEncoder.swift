import KymographCore

/// Writes bundles and single resources as a server gets them: as their blocks say, as far as it can take that.
struct BundleEncoder {
    private let settings: DeliverySettings
    private let capabilities: ServerCapabilities

    /// For a server with these capabilities.
    init(_ settings: DeliverySettings, _ capabilities: ServerCapabilities) {
        self.settings = settings
        self.capabilities = capabilities
    }

    /// Whether the server makes resources of this type under our ids.
    func updatesByID(_ type: String) -> Bool {
        settings.updateCreate ?? capabilities.updateCreateTypes.contains(type)
    }

    /// Whether the part goes as a transaction: if its blocks are, and the server can; or if it cannot do batches.
    func isTransaction(_ part: BundlePart) -> Bool {
        let isWanted = part.entries.first?.isTransaction ?? part.resources.contains { $0.carried.first?.fullURL != nil }
        return capabilities.hasTransaction && (isWanted || !capabilities.hasBatch)
    }

    /// The request that sends `part`.
    func request(_ part: BundlePart) -> HTTPRequest {
        let headers = [
            ("Content-Type", settings.version.contentType), ("Accept", "application/fhir+json"),
            ("Prefer", "return=minimal"),
        ]
        return HTTPRequest(
            "POST", settings.bundleURL, headers: headers, body: body(of: part), timeout: settings.timeout)
    }

    private func body(of part: BundlePart) -> [UInt8] {
        let isTransaction = isTransaction(part)
        var body = ByteWriter(capacity: 1 << 14)
        body.appendBundleHead(isTransaction ? .transaction : .batch)
        let head = body.count
        for resource in part.resources {
            guard let carried = resource.carried.first else { continue }
            if body.count > head { body.append(UInt8(ascii: ",")) }
            // In a batch, nothing may refer to it.
            carried.write(isReferred: isTransaction, into: &body)
        }
        for entry in part.entries {
            if body.count > head { body.append(UInt8(ascii: ",")) }
            assembly(of: entry, in: part).write(entry, into: &body)
        }
        body.append("]}")
        return body.view.array
    }

    /// The resource of `entry` by itself.
    func resource(_ entry: DeliveryEntry) -> [UInt8] {
        var body = ByteWriter(capacity: 1_024)
        assembly(of: entry, in: nil).writeResource(entry, into: &body)
        return body.view.array
    }

    /// How `entry` is written; on its own without `part`.
    private func assembly(of entry: DeliveryEntry, in part: BundlePart?) -> EntryAssembly {
        var assembly = EntryAssembly(isConditionalUpdate: !updatesByID(entry.type), version: settings.version)
        if settings.resolvesIdentity {
            if let identity = entry.identity { assembly.references = .literal(identity) }
        } else if entry.isTransaction && !capabilities.hasTransaction {
            assembly.references = .logical
        }
        assembly.namesMembers = !entry.members.isEmpty && !reaches(entry.members, part)
        return assembly
    }

    /// Whether a panel's references to its members hold: by id where that is theirs, and otherwise in a transaction
    /// that has the entries of all of them as they came.
    private func reaches(_ members: [PanelMember], _ part: BundlePart?) -> Bool {
        guard let part, isTransaction(part) else { return false }
        let targets = settings.resolvesIdentity ? [] : Set(part.entries.map(\.target))
        return members.allSatisfy { $0.isByID ? updatesByID("Observation") : targets.contains($0.target) }
    }
}
