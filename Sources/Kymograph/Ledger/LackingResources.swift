import Foundation
import GRDB
import KymographCore

/// Resources of which a server has an earlier version only, because it was asked to create them and keeps what it has.
struct LackingResources {
    private struct Resource {
        var sink: String
        /// Its name in receipts, which has its identifier, and behind what stands for a long one the whole of it.
        var name: String
        /// The row of the outbox that it came with.
        var row: Int64

        /// Bytes that have its identifier as it is.
        var identity: [UInt8] {
            let place = name.firstIndex(of: " ") ?? name.endIndex
            let head = String(name[..<place])
            return Array((head.removingPercentEncoding ?? head).utf8) + Array(name[place...].utf8)
        }
    }

    private let resources: [Resource]
    /// The same by the row that they came with.
    private let byRow: [Int64: [Resource]]
    /// How many are named in a sentence.
    private static let mostNamed = 20

    init(_ db: Database) throws {
        resources = try Row.fetchAll(db, sql: "SELECT sink, resource, origin FROM lacking ORDER BY sink, origin").map {
            Resource(sink: $0[0], name: $0[1], row: $0[2])
        }
        byRow = Dictionary(grouping: resources, by: \.row)
    }

    /// Their names by sink.
    var bySink: [String: [String]] { Dictionary(grouping: resources, by: \.sink).mapValues { $0.map(\.name) } }

    /// What each server lacks, in a sentence.
    var sentences: [String] {
        bySink.sorted { $0.key < $1.key }.map { sink, names in
            let named = names.prefix(LackingResources.mostNamed).joined(separator: ", ")
            let more = names.count - LackingResources.mostNamed
            let resources = CountText.of(names.count, "resource")
            return "\(sink) lacks the latest version of \(resources), of which it has kept an earlier one "
                + "(conditional-create): \(named)\(more > 0 ? " and \(more) more" : "")"
        }
    }

    /// The sinks that lack the Observation of `device` with which its window from `start` on left in `row`.
    func sinks(of row: Int64, device: IdentifierText, start: Instant) -> Set<String> {
        guard let there = byRow[row] else { return [] }
        let part = Array(".\(device.text.replacing("%", with: "%25").replacing(".", with: "%2E")).".utf8)
        // As identifiers write times, to the second.
        let time = Array(".\(start.text.prefix(19).filter { !"-T:".contains($0) })".utf8)
        return Set(
            there.filter { resource in
                let name = resource.identity
                return name.contains(part) && name.contains(time)
            }.map(\.sink))
    }
}
