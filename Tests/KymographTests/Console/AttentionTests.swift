import KymographCore
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
        var gaps: [GapWatch.Gap] = []
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
                gaps: gaps, silentAfter: silentAfter, started: started, now: 1_100
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
        #expect(titles { $0.facts.isStoreFull = true } == ["critical: No readings are taken: the store is full"])
        #expect(titles { $0.facts.isStarting = true } == ["notice: The instance is starting"])
        #expect(titles { $0.imbalance = 3 } == ["critical: 3 readings unaccounted for"])
        #expect(
            titles { ($0.dropped, $0.droppedNow) = (9, 1.5) } == [
                "critical: 9 messages are lost at udp, and more each second"
            ])
        #expect(titles { $0.dropped = 9 } == ["notice: 9 messages were lost at udp"])
        #expect(titles { $0.store.lost = 2 } == ["critical: 2 readings are lost"])
        #expect(titles { $0.store.quarantined = 1 } == ["warning: 1 row of the store is damaged"])
        #expect(titles { $0.store.usedBytes = 79 } == [])
        #expect(titles { $0.store.usedBytes = 80 } == ["warning: The store is 80 % full"])
        #expect(titles { $0.store.usedBytes = 95 } == ["critical: The store is 95 % full"])
        #expect(titles { ($0.sink.isUp, $0.sink.circuit) = (false, "open") } == ["warning: server takes nothing"])
        #expect(titles { ($0.sink.isUp, $0.sink.circuit) = (false, "probing") } == [])
        #expect(titles { ($0.sink.waiting, $0.sink.oldestAge) = (1, 299) } == [])
        #expect(titles { ($0.sink.waiting, $0.sink.oldestAge) = (1, 300) } == ["warning: server gets readings late"])
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
        facts.reasons = ["a", "b", "c", "d", "e"].map {
            LiveSnapshot.Reason(reason: $0, count: 1, meaning: "m", cause: "c", fate: .replayable)
        }
        (facts.sink.isUp, facts.sink.circuit, facts.imbalance) = (false, "open", 1)
        let found = facts.found
        #expect(found.map(\.severity) == [.critical, .warning, .notice, .notice, .notice, .notice])
        #expect(found[2].link == "letters?reason=a" && found[5].title == "Readings were not taken for 2 more reasons")
    }

    /// What it means for patients comes before what it is called.
    @Test func reasonsAreTold() {
        var facts = Facts()
        func reason(_ rejection: Rejection, _ count: Int) -> LiveSnapshot.Reason {
            LiveSnapshot.Reason(
                reason: rejection.name, count: count, meaning: rejection.explanation, cause: rejection.plainCause,
                fate: rejection.fate)
        }
        facts.reasons = [reason(.clockAhead, 12), reason(.controlSolution, 1), reason(.bufferFull, 3)]
        let found = facts.found
        #expect(found[0].title == "12 readings were not taken: the clock of the device is ahead")
        #expect(found[0].text.hasPrefix("They are not in the patients' data until "))
        #expect(found[0].text.hasSuffix(" clockAhead: the time lies more than maxFuture after the receipt."))
        #expect(found[1].title == "1 reading was left out: a test was measured, and no patient")
        #expect(found[1].text.hasPrefix("Settings or senders want it so. "))
        #expect(found[2].text.contains("have their sender send them again."), "nothing is kept to be replayed")
    }

    /// Words of a ward, and no names of settings or reasons.
    @Test(arguments: Rejection.allCases) func causesArePlain(reason: Rejection) {
        let cause = reason.plainCause
        #expect((10...60).contains(cause.count) && cause.first?.isLowercase == true && cause.last != ".")
        #expect(!cause.contains(reason.name))
        // Names of settings have a capital letter within a word.
        #expect(cause.firstMatch(of: /[a-z][A-Z]/) == nil, "\(cause)")
    }

    @Test func gapsAreTold() {
        var facts = Facts()
        facts.gaps = (1...5).map {
            GapWatch.Gap(series: $0, mask: "masked-\($0)", types: ["heartRate"], missing: 60, accepted: 540)
        }
        let found = facts.found
        #expect(found.map(\.severity) == [.notice, .notice, .notice, .notice])
        #expect(found[0].title == "Gaps in the readings of masked-1" && found[0].link == "timeline?of=1")
        #expect(found[0].text.hasPrefix("Of the last 6 hours 60 of about 600 readings did not come (heartRate)"))
        #expect(found[3].title == "2 more devices have gaps")
    }

    /// Readings that came and are in nobody's data can be mended here; gaps cannot.
    @Test func whatWasNotTakenComesBeforeGaps() {
        let gap = GapWatch.Gap(series: 1, mask: "masked-1", types: ["heartRate"], missing: 60, accepted: 540)
        let reason = LiveSnapshot.Reason(reason: "a", count: 1, meaning: "m", cause: "c", fate: .replayable)
        #expect(
            titles { ($0.gaps, $0.reasons) = ([gap], [reason]) } == [
                "notice: 1 reading was not taken: c", "notice: Gaps in the readings of masked-1",
            ])
    }

    @Test func remarksAreTold() {
        #expect(titles { $0.facts.run.paused = 1 } == ["warning: 1 type or source is paused"])
        #expect(titles { $0.facts.run.paused = 2 } == ["warning: 2 types or sources are paused"])
    }

    /// What a server has said may name a patient.
    @Test func nothingThatAServerSaidIsShown() {
        var delivery = DeliverySummary()
        (delivery.circuit, delivery.lastError) = ("open", "no Patient p-0042")
        let found = titles { $0.facts.deliveries = [("server", delivery)] }
        #expect(!found.joined().contains("0042"))
    }
}
