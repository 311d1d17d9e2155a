import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// An entry that a server always fails at does not hold up what its own device sends behind it.
@Suite struct DetachedEntryTests {
    private typealias Reading = TestRow.Reading

    private func names(_ rehearsal: DeliveryRehearsal) -> [String] {
        rehearsal.outbox.undeliverable.map { "\($0.resource) \($0.reason)" }
    }

    /// A device alone, which sends a window every minute: nobody but itself can show that the server works.
    @Test(arguments: [true, false], [Compatibility.none, .iomtFHIR])
    func itsOwnDeviceGoesOn(isTransaction: Bool, compatibility: Compatibility) throws {
        let first = [Reading("a", 1, 901, patient: "p"), Reading("a", 2, patient: "p")]
        let rehearsal = try DeliveryRehearsal.failing([TestRow.row(first, isTransaction)]) {
            $0.compatibility = compatibility
        }
        rehearsal.run(seconds: 900)
        #expect(rehearsal.values.keys.sorted() == ["a-2"] && !rehearsal.outbox.isSettled)
        var sent = 2
        while sent < 120, rehearsal.engine.status.undeliverable == 0 {
            sent += 1
            rehearsal.outbox.add(TestRow.row([Reading("a", sent, patient: "p")], isTransaction))
            rehearsal.run(seconds: rehearsal.seconds + 60)
            #expect(rehearsal.values.count >= sent - 2, "reading \(sent) waits")
        }
        #expect((30...100).contains(sent), "\(sent)")
        rehearsal.run(seconds: rehearsal.seconds + 600)
        #expect(names(rehearsal) == ["Observation/a-1 serverFailed"] && rehearsal.outbox.isSettled)
        let entry = try #require(rehearsal.outbox.undeliverable.first)
        #expect(entry.detail.hasPrefix("500 exception") && String(decoding: entry.bytes, as: UTF8.self).contains("901"))
        #expect(rehearsal.values.count == sent - 1)
    }

    /// A refusal that may be a mistake in the set-up is believed when the server takes what comes behind.
    @Test func aDoubtfulRefusal() throws {
        let rehearsal = try DeliveryRehearsal.failing([TestRow.row([Reading("a", 1)], true)])
        rehearsal.run()
        rehearsal.server.refusal = { "\($0)".contains("901") ? (403, "forbidden") : nil }
        rehearsal.outbox.add(TestRow.row([Reading("a", 2, 901)], true))
        rehearsal.run(seconds: 3_600)
        #expect(rehearsal.engine.status.undeliverable == 0, "nothing shows that the set-up is right")
        rehearsal.outbox.add(TestRow.row([Reading("a", 3)], true))
        rehearsal.run(seconds: 7_200)
        #expect(names(rehearsal) == ["Observation/a-2 serverRefused"])
        #expect(rehearsal.values.keys.sorted() == ["a-1", "a-3"] && rehearsal.outbox.isSettled)
    }

    /// A later version of the same window waits: the server must not end with the earlier one.
    @Test(arguments: [true, false]) func theSameWindowKeepsItsOrder(isTransaction: Bool) throws {
        let rehearsal = try DeliveryRehearsal.failing([
            TestRow.row([Reading("a", 1, 901)], isTransaction), TestRow.row([Reading("a", 2)], isTransaction),
            TestRow.row([Reading("a", 1, 7)], isTransaction), TestRow.row([Reading("a", 3)], isTransaction),
        ]) { $0.maxEntries = 3 }
        rehearsal.run(seconds: 3_600)
        // What comes behind the later version waits with it.
        #expect(rehearsal.values == ["a-2": 1])
        rehearsal.server.refusal = { _ in nil }
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.values == ["a-1": 7, "a-2": 1, "a-3": 1] && rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.isEmpty)
    }

    /// Whatever is sent, the server answers 500: nothing is given up, and few entries are tried on their own.
    @Test(arguments: [true, false]) func anOutageGivesNothingUp(isTransaction: Bool) throws {
        let devices = (0..<5).map { "d\($0)" }
        let rehearsal = try DeliveryRehearsal(
            devices.map { TestRow.row([Reading($0, 0, patient: "p")], isTransaction) })
        rehearsal.run()
        #expect(rehearsal.values.count == 5)
        for window in 1...20 {
            for device in devices {
                rehearsal.outbox.add(TestRow.row([Reading(device, window, patient: "p")], isTransaction))
            }
        }
        rehearsal.server.otherwise = { _ in .status(500) }
        rehearsal.run(seconds: 70_000)
        #expect(names(rehearsal).isEmpty && rehearsal.engine.status.undeliverable == 0)
        // One of each device, and the few that were detached.
        #expect(
            (6...13).contains(rehearsal.engine.launcher.flights.count), "\(rehearsal.engine.launcher.flights.count)")
        #expect(rehearsal.server.bundles.count < 5_000, "\(rehearsal.server.bundles.count)")
        rehearsal.server.otherwise = nil
        rehearsal.run(seconds: 80_000)
        #expect(rehearsal.values.count == 105 && rehearsal.outbox.isSettled && names(rehearsal).isEmpty)
    }

    /// Every other window of a device is bad: the good ones arrive, and the bad ones are given up one after the other.
    @Test(arguments: [true, false]) func everyOtherWindow(isTransaction: Bool) throws {
        let rehearsal = try DeliveryRehearsal.failing([])
        for window in 1...400 {
            let value = window.isMultiple(of: 2) ? 901 : 1
            rehearsal.outbox.add(TestRow.row([Reading("a", window, value)], isTransaction))
            rehearsal.run(seconds: rehearsal.seconds + 60)
        }
        #expect(rehearsal.values.count > 180, "\(rehearsal.values.count)")
        #expect(rehearsal.engine.status.undeliverable > 50, "\(rehearsal.engine.status.undeliverable)")
        #expect(names(rehearsal).allSatisfy { $0.hasSuffix("serverFailed") })
    }
}
