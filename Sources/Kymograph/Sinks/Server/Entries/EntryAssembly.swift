import KymographCore

/// How an entry is written for a server: as its block says, or otherwise as far as the server needs it.
struct EntryAssembly {
    /// How a resource refers to Patients, Devices and Encounters.
    enum References {
        /// As its block says.
        case asSent
        /// By identifier.
        case logical
        /// By the ids that the server has.
        case literal(ResolvedIdentity)
    }

    /// How a resource refers to others.
    var references: References = .asSent
    /// Whether `PUT <type>/<id>` becomes a conditional update, without id in the body.
    var isConditionalUpdate = false
    /// Whether a panel refers to its members by identifier, because what it says of them does not hold on the server.
    var namesMembers = false
    /// The version of FHIR: References of STU3 state no type.
    var version: FHIRVersion = .r4

    /// Writes the entry.
    func write(_ entry: DeliveryEntry, into output: inout ByteWriter) {
        let isUpdated = isConditionalUpdate && entry.isPut
        entry.withEntry { found, block in
            if case .asSent = references, !isUpdated, !namesMembers || entry.members.isEmpty {
                return block.append(found, as: entry.form, to: &output)
            }
            output.append("{\"resource\":")
            writeResource(found, block, entry, withID: !isUpdated, into: &output)
            output.append(",\"request\":")
            if isUpdated {
                output.append(
                    Array("{\"method\":\"PUT\",\"url\":\"\(entry.type)?\(entry.identifier.query)\"}".utf8))
            } else {
                output.appendRequest(of: found, as: entry.form)
            }
            output.append("}")
        }
    }

    /// Writes the resource.
    func writeResource(_ entry: DeliveryEntry, into output: inout ByteWriter) {
        entry.withEntry { found, block in writeResource(found, block, entry, withID: true, into: &output) }
    }

    private func writeResource(
        _ found: Entry, _ block: EntryBlock, _ entry: DeliveryEntry, withID: Bool, into output: inout ByteWriter
    ) {
        block.append(resource: found, withID: withID && entry.form.hasID(found.kind), to: &output) {
            write($0, of: found, block, entry, into: &$1)
        }
    }

    /// Writes the members of a Reference.
    private func write(
        _ reference: EntryReference, of found: Entry, _ block: EntryBlock, _ entry: DeliveryEntry,
        into output: inout ByteWriter
    ) {
        if reference.role == .member {
            guard namesMembers, !entry.members.isEmpty else {
                return block.append(reference, of: found, as: entry.form, to: &output)
            }
        } else {
            switch references {
            case .asSent: return block.append(reference, of: found, as: entry.form, to: &output)
            case .logical: break
            case .literal(let identity):
                guard let (type, id) = literal(reference, block, entry, identity) else { break }
                return output.append(Array("\"reference\":\"\(type)/\(id)\"".utf8))
            }
        }
        block.append(byIdentifier: reference, of: found, withType: version != .stu3, to: &output)
    }

    /// Type and id, on the server, of what `reference` names; nil where that is not known.
    private func literal(
        _ reference: EntryReference, _ block: EntryBlock, _ entry: DeliveryEntry, _ identity: ResolvedIdentity
    ) -> (type: String, id: IdentifierText)? {
        if reference.role == .encounter { return identity.id(of: "Encounter").map { ("Encounter", $0) } }
        let target = ServerIdentifier(block[reference.target])
        let id = target == entry.gateway ? identity.gateway : identity.id(of: target.type)
        return id.map { (target.type, $0) }
    }
}
