import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Random sequences of reloads, refused ones among them, and restarts, beside a set of what is to be read and a count of
/// what was sent.
@Suite struct SourceReloadSequenceTests {
    private typealias Kind = SourceReloadTests.Kind

    /// One sequence.
    private struct Sequence {
        private var scene = SourceReloadTests.Scene()
        private var random: SeededGenerator
        /// What the instance reads besides the source that stays.
        private var present: [Kind] = []
        private var sent = 0
        private(set) var steps: [String] = []

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            scene.configure([])
            try scene.start()
        }

        /// What would be read next, in any order.
        private mutating func others() -> [Kind] {
            Kind.allCases.filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        }

        private func written(_ kinds: [Kind]) -> [String] { kinds.map { scene.written($0) } }

        mutating func step() throws {
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2:
                let next = others()
                steps.append("read \(next)")
                try scene.read(written(next))
                present = next
            case 3:
                let next = others()
                steps.append("refused \(next)")
                scene.configure(written(next), more: "limits: {archiveBytes: \(steps.count + 7000)}")
                try scene.reload("→ \(steps.count + 7000) (")
            case 4:
                let next = others()
                steps.append("bad address, \(next)")
                scene.configure(written(next) + ["{unix: none/\(steps.count).sock}"])
                try scene.reload("none/\(steps.count).sock: No such file")
            default:
                steps.append("restart")
                let done = try scene.end()
                #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(steps) \(done.error)")
                scene.configure(written(present))
                try scene.start(present.count + 1)
            }
            try use()
        }

        /// Sends something to each source, and nothing comes through those that are not read.
        private mutating func use() throws {
            let test = SourceReloadTests()
            for kind in Kind.allCases {
                let readings = Readings.heartRates(Int.random(in: 1...20, using: &random), device: "d\(sent)")
                if present.contains(kind) {
                    try test.send(readings, kind, to: scene.address(kind))
                    sent += readings.count
                } else {
                    #expect(throws: (any Error).self, "\(kind): \(steps)") {
                        try test.send(Readings.heartRates(3), kind == .http ? .tcp : kind, to: test.gone(scene, kind))
                    }
                }
            }
            let readings = Readings.heartRates(3, device: "base\(sent)")
            try test.send(readings, .unix, to: scene.base)
            sent += readings.count
        }

        func finish() throws {
            let done = try scene.end()
            let balance = try #require(done.balance)
            #expect(done.end == .exit(0) && balance.isClosed && balance.kernelDropped == 0, "\(steps) \(done.error)")
            #expect(try scene.stored() == (sent, sent), "\(steps) \(done.error)")
            #expect(try scene.run.command("ledger", "--verify").end == .exit(0), "\(steps)")
            #expect(try scene.run.value("SELECT count(*) FROM source") ?? 0 <= Kind.allCases.count + 1, "\(steps)")
        }
    }

    @Test(arguments: Trials.seeds(tenthOf: 40)) func nothingIsLost(seed: UInt64) throws {
        var sequence = try Sequence(seed: seed)
        for _ in 0..<14 { try sequence.step() }
        try sequence.finish()
    }
}
