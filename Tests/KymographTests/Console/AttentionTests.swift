import Testing

@testable import Kymograph

/// What the overview calls attention to, and in which order.
@Suite struct AttentionTests {
    private struct Facts {
        var facts = InstanceFacts()
        var imbalance = 0
        var dropped = 0
        var droppedNow = 0.0
        var lastSeen: Double? = 1_000
        var sink = LiveSnapshot.Sink(name: "server", isUp: true, waiting: 0, circuit: "closed")
        var reasons: [LiveSnapshot.Reason] = []
        var store = LiveSnapshot.Store(
            usedBytes: 10, limitBytes: 100, windows: 0, outboxRows: 0, deadLetters: 0, quarantined: 0, lost: 0)
        var silentAfter = 300.0
        var started = 500.0

        var found: [Attention] {
            let source = LiveSnapshot.Source(
                name: "udp", readings: 0, messages: 0, bytes: 0, received: 0, rejected: 0, dropped: dropped,
                lastSeen: lastSeen)
            let rate = TopReport.Source(
                name: "udp", readings: 0, messages: 0, bytes: 0, rejected: 0, dropped: droppedNow, droppedTotal: dropped
            )
            return AttentionRules(
                health: InstanceHealth(facts: facts, downSince: nil, now: .now),
                balance: LiveSnapshot.Balance(
                    received: 0, accepted: 0, duplicate: 0, conflict: 0, rejected: 0, inFlight: 0,
                    imbalance: imbalance),
                sources: [source], rates: [rate], sinks: [sink], reasons: reasons, store: store,
                silentAfter: silentAfter, started: started, now: 1_100
            ).found
        }
    }

    private func titles(_ change: (inout Facts) -> Void) -> [String] {
        var facts = Facts()
        change(&facts)
        return facts.found.map { "\($0.severity): \($0.title)" }
    }

    @Test func allIsWell() { #expect(titles { _ in } == []) }

    @Test func eachIsNamed() {
        #expect(titles { $0.facts.isStoreFull = true } == ["critical: Instance store full"])
        #expect(titles { $0.facts.isStarting = true } == ["notice: Instance recovering"])
        #expect(titles { $0.imbalance = 3 } == ["critical: 3 readings unaccounted for"])
        #expect(titles { ($0.dropped, $0.droppedNow) = (9, 1.5) } == ["critical: 9 datagrams dropped and counting"])
        #expect(titles { $0.dropped = 9 } == ["notice: 9 datagrams dropped"])
        #expect(titles { $0.store.lost = 2 } == ["critical: 2 readings lost"])
        #expect(titles { $0.store.quarantined = 1 } == ["warning: 1 damaged rows"])
        #expect(titles { $0.store.usedBytes = 79 } == [])
        #expect(titles { $0.store.usedBytes = 80 } == ["warning: Store 80 % full"])
        #expect(titles { $0.store.usedBytes = 95 } == ["critical: Store 95 % full"])
        #expect(titles { ($0.sink.isUp, $0.sink.circuit) = (false, "open") } == ["warning: Sink server is down"])
        #expect(titles { ($0.sink.isUp, $0.sink.circuit) = (false, "probing") } == [])
        #expect(titles { ($0.sink.waiting, $0.sink.oldestAge) = (1, 299) } == [])
        #expect(titles { ($0.sink.waiting, $0.sink.oldestAge) = (1, 300) } == ["warning: Sink server lags"])
    }

    @Test func silenceIsTold() {
        #expect(titles { $0.lastSeen = 801 } == [])
        #expect(titles { $0.lastSeen = 800 } == ["warning: udp is silent"])
        #expect(titles { ($0.lastSeen, $0.silentAfter) = (0, 0) } == [])
    }

    /// A strap that is not paired, or a broker without the topic: nothing is well that nobody has seen.
    @Test func aSourceThatHasNeverBroughtAnythingIsTold() {
        func found(_ change: (inout Facts) -> Void) -> [String] {
            titles { facts in
                facts.lastSeen = nil
                change(&facts)
            }
        }
        #expect(found { $0.started = 1_100 } == ["notice: udp has received nothing yet"])
        #expect(found { $0.started = 801 } == ["notice: udp has received nothing yet"])
        #expect(found { $0.started = 800 } == ["warning: udp has received nothing yet"])
        #expect(found { ($0.started, $0.silentAfter) = (0, 0) } == ["notice: udp has received nothing yet"])
        var facts = Facts()
        (facts.lastSeen, facts.started) = (nil, 380)
        #expect(facts.found.first?.text.hasPrefix("Nothing has come since the start (12 min)") == true)
    }

    @Test func addressesKeepTheirFirstLetter() {
        var facts = Facts()
        (facts.sink.isUp, facts.sink.circuit) = (false, "open")
        facts.sink.trouble = "http://127.0.0.1:9 cannot be reached"
        #expect(facts.found.first?.text.hasPrefix("http://127.0.0.1:9 cannot be reached. ") == true)
        facts.sink.trouble = "connection refused"
        #expect(facts.found.first?.text.hasPrefix("Connection refused. ") == true)
    }

    @Test func theMostImportantIsFirstAndReasonsLeadToTheirLetters() {
        var facts = Facts()
        facts.reasons = ["a", "b", "c", "d", "e"].map { LiveSnapshot.Reason(reason: $0, count: 1, meaning: "m") }
        (facts.sink.isUp, facts.sink.circuit, facts.imbalance) = (false, "open", 1)
        let found = facts.found
        #expect(found.map(\.severity) == [.critical, .warning, .notice, .notice, .notice, .notice])
        #expect(found[2].link == "letters?reason=a" && found[5].title == "2 more reasons of rejection")
    }

    /// What a server has said may name a patient.
    @Test func nothingThatAServerSaidIsShown() {
        var delivery = DeliverySummary()
        (delivery.circuit, delivery.lastError) = ("open", "no Patient p-0042")
        let found = titles { $0.facts.deliveries = [("server", delivery)] }
        #expect(!found.joined().contains("0042"))
    }
}
