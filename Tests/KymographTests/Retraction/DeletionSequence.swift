import KymographTestKit

@testable import Kymograph
@testable import KymographCore

/// What a ``RetractionSequence`` gives sinks, on its way to a server that is to delete what was an error: with faults of
/// the server, and kills in between.
struct DeletionSequence {
    /// A defect that the test puts in, to see that it is found.
    enum Defect: CaseIterable {
        /// The server keeps what was an error.
        case keepsErrors
        /// What was sent first comes last.
        case changesOrder
    }

    private let seed: UInt64
    private let defect: Defect?
    private var generator: SeededGenerator
    /// Resources that were deleted.
    private(set) var deleted = 0
    /// Of them, those that came again later.
    private(set) var renewed = 0

    init(seed: UInt64, defect: Defect? = nil) {
        (self.seed, self.defect) = (seed, defect)
        generator = SeededGenerator(seed: seed ^ 0xDE1E7E)
    }

    private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    /// What is wrong in the end; empty when all is as it must be.
    mutating func run() throws -> [String] {
        var sequence = RetractionSequence(seed: seed)
        let differences = try sequence.run()
        guard differences.isEmpty else { return differences }
        let rehearsal = try DeliveryRehearsal(seed: seed) {
            $0.deletesEmptied = defect != .keepsErrors
            $0.maxEntries = Int.random(in: 1...12, using: &generator)
        }
        prepare(rehearsal.server)
        try deliver(sequence.blocks, rehearsal)
        let receipts = rehearsal.outbox.receipts
        deleted += receipts.count { $0.isDeleted && $0.status == 204 }
        let gone = Set(receipts.filter(\.isDeleted).map(\.resource))
        let there = Set(rehearsal.server.resources.keys)
        renewed += gone.intersection(there).count
        let undeliverable = rehearsal.outbox.undeliverable.map { "\($0.resource) is put aside: \($0.detail)" }
        return undeliverable + self.differences(rehearsal.server, sequence.model.observations)
    }

    private mutating func prepare(_ server: MemoryServer) {
        server.updateCreate = !once(in: 3)
        server.interactions = once(in: 2) ? ["batch"] : ["transaction", "batch"]
    }

    private mutating func deliver(_ blocks: [[UInt8]], _ rehearsal: DeliveryRehearsal) throws {
        var left = blocks[...]
        if defect == .changesOrder { left = ArraySlice(blocks.reversed()) }
        while !left.isEmpty {
            for block in left.prefix(Int.random(in: 1...4, using: &generator)) {
                rehearsal.outbox.add(block)
                left.removeFirst()
            }
            var faults = SeededGenerator(seed: UInt64.random(in: 0..<UInt64.max, using: &generator))
            rehearsal.server.otherwise = { _ in DeletionSequence.fault(&faults) }
            rehearsal.run(seconds: rehearsal.seconds + Double.random(in: 0...20, using: &generator))
            if once(in: 3) { try rehearsal.restart() }
        }
        rehearsal.server.otherwise = nil
        rehearsal.run(seconds: rehearsal.seconds + 100_000)
    }

    private static func fault(_ generator: inout SeededGenerator) -> MemoryServer.Step {
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: .status(503)
        case 1: .lose(.lost)
        case 2: .lose(.timeout)
        case 3: .cut
        case 4: .fail(.unreachable)
        default: .pass
        }
    }

    private func differences(_ server: MemoryServer, _ wanted: [RetractionModel.Shown: Int]) -> [String] {
        var differences: [String] = []
        var left = wanted
        for (key, resource) in server.resources where key.hasPrefix("Observation/") {
            let name = (resource["identifier"] as? [[String: Any]])?.first?["value"] as? String ?? ""
            let value = (resource["valueQuantity"] as? [String: Any])?["value"] as? Int
            guard let shown = RetractionModel.Shown(identifier: name), let own = left.removeValue(forKey: shown) else {
                differences.append("\(name) must not be there: \(value.map(String.init) ?? "no value")")
                continue
            }
            if own != value { differences.append("\(name) is \(value.map(String.init) ?? "nothing"), not \(own)") }
        }
        return differences + left.keys.map { "\($0) is missing" }
    }
}
