public import KymographCore

/// What a FHIR server has answered for one entry, for good: it is in the store, and the entry is not sent again.
public struct DeliveryReport: Sendable {
    /// What became of the entry.
    public enum Outcome: Hashable, Sendable {
        /// The server has it.
        case stored
        /// The server has deleted it (`emptied: delete`), or had none.
        case deleted
        /// The server has kept other content that it had (`output.write: conditional-create`).
        case otherKept
        /// The server never will have it: it is among the dead letters (`kymo dead`), from which it can be sent again.
        case refused(Rejection)
    }

    /// The name of the sink.
    public let sink: String
    /// The resource as the server was asked to store it. Put by its id, type and id (`Observation/0a1b…`, the id is
    /// that of ``ResourceEntry/id``); otherwise type and search (`Observation?identifier=…`), as of Patients and
    /// Devices, of which the program gets no entries.
    public let resource: String
    /// What became of it.
    public let outcome: Outcome
    /// Where the server has it (`Location`), empty when it did not say; or why it was refused.
    public let detail: String
    /// The resource, of an entry that was refused; else empty.
    public let refused: [ResourceEntry]
}

extension DeliveryReport {
    /// The reports of what a sink has settled.
    static func all(of settlement: Settlement) -> [DeliveryReport] {
        settlement.receipts.map { receipt in
            DeliveryReport(
                sink: settlement.sink, resource: receipt.resource,
                outcome: receipt.isDeleted ? .deleted : receipt.isLacking ? .otherKept : .stored,
                detail: receipt.location, refused: [])
        }
            + settlement.undeliverable.map { entry in
                DeliveryReport(
                    sink: settlement.sink, resource: entry.resource, outcome: .refused(entry.reason),
                    detail: entry.detail, refused: resources(entry.bytes))
            }
    }

    private static func resources(_ block: [UInt8]) -> [ResourceEntry] {
        var index = EntryIndex()
        return block.withByteView { bytes in index.read(bytes).map(ResourceEntry.all) ?? [] }
    }
}
