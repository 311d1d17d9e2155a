@testable import Kymograph
@testable import KymographCore

extension DeliveryRehearsal {
    /// A rehearsal whose server fails at values above 900.
    static func failing(
        _ rows: [String], _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws -> DeliveryRehearsal {
        let rehearsal = try DeliveryRehearsal(rows, change)
        rehearsal.server.refusal = {
            let value = ($0["valueQuantity"] as? [String: Any])?["value"] as? Int ?? 0
            return value > 900 ? (500, "exception") : nil
        }
        return rehearsal
    }
}

extension TestRow {
    /// A bundle of `readings`, as a transaction or a batch.
    static func row(_ readings: [Reading], _ isTransaction: Bool) -> String {
        isTransaction ? transaction(readings) : batch(readings)
    }
}
