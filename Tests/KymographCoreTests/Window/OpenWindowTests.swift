import Testing

@testable import KymographCore

/// What a window remembers of itself, from one state to the next.
@Suite struct OpenWindowTests {
    private func window(isCarrier: Bool = false, isStored: Bool = false, preliminaryEvery: Int = 0) -> OpenWindow {
        OpenWindow(
            span: .aligned(around: Instant(seconds: 90), period: 60_000_000_000), series: 0, isCarrier: isCarrier,
            isStored: isStored, readings: 8, sizeClass: 2, journal: JournalWriter.noBlock,
            preliminaryEvery: preliminaryEvery)
    }

    private func filled(_ count: UInt32, preliminaryEvery: Int = 0) -> OpenWindow {
        var window = window(preliminaryEvery: preliminaryEvery)
        for _ in 0..<count {
            window.count += 1
            window.change()
            window.noteGrowth(preliminaryEvery: preliminaryEvery)
        }
        window.last = Instant(seconds: 90)
        return window
    }

    /// With a million windows each byte is a megabyte; a series is one cache line.
    @Test func takesLittleMemory() {
        #expect(MemoryLayout<OpenWindow>.stride == 104)
        #expect(MemoryLayout<SeriesState>.stride == 64)
    }

    @Test func isDueAgainWhenItChangesWhileItIsEncoded() {
        var window = filled(1)
        #expect(!window.isDue)
        window.close()
        #expect(window.due == .emission(.final))
        window.beginEmission()
        window.change()
        window.settleEmission(.final)
        #expect(window.due == .emission(.amended))
        window.beginEmission()
        window.settleEmission(.amended)
        #expect(window.due == .retirement)
    }

    @Test func isTakenBackWhenNothingIsLeftOfWhatWasShown() {
        var seen = window(isStored: true)
        seen.changeByRemoval()
        seen.close()
        #expect(seen.due == .emission(.enteredInError))
        var unseen = filled(1)
        unseen.count = 0
        unseen.changeByRemoval()
        unseen.close()
        #expect(unseen.due == .retirement)
    }

    @Test func knowsWhatTheArchiveHas() {
        var window = window(isStored: true)
        window.restamp()
        #expect(window.archiveCopy == .olderReceipts)
        window.change()
        #expect(window.archiveCopy == .other)
        window.restamp()
        #expect(window.archiveCopy == .other)
    }

    @Test func isDueAtEachMultipleOfReadings() {
        var window = filled(2, preliminaryEvery: 2)
        #expect(window.isDue)
        #expect(window.due == .emission(.preliminary))
        window.beginEmission()
        window.settleEmission(.preliminary)
        #expect(!window.isDue && window.content != .shown)
        #expect(filled(3, preliminaryEvery: 2).runEnd(newest: Instant(seconds: 90), limit: 9).slot == noWindow)
    }

    /// What was due and has gone, such as the readings of a preliminary emission, is not due when it leaves the queue.
    @Test func leavesTheQueueWithNothingDue() {
        var window = filled(2, preliminaryEvery: 2)
        #expect(window.enqueue() && !window.enqueue())
        window.count = 0
        #expect(window.due == .nothing)
        window.dequeue()
        #expect(!window.isDue && !window.isQueued)
    }

    @Test func findsTheFirstUnsentReadingOfACarrier() {
        var window = window(isCarrier: true)
        window.noteUnsent(3)
        window.noteUnsent(1)
        #expect(window.firstUnsent == 1 && window.isDue)
        window.forgetUnsent(0, wasUnsent: false)
        #expect(window.firstUnsent == 0 && window.unsent == 2)
        window.noteSent()
        window.noteSent()
        #expect(!window.isDue)
        window.change()
        #expect(window.content == .shown)
    }

    @Test func givesItsRunOnlyWhileNothingHasToLookAtIt() {
        let newest = Instant(seconds: 90)
        var window = filled(2)
        #expect(window.runEnd(newest: newest, limit: 9).slot == 10)
        #expect(window.runEnd(newest: newest, limit: 9).end == 12)
        #expect(window.runEnd(newest: newest, limit: 3).end == 11)
        #expect(window.runEnd(newest: newest, limit: 2).slot == noWindow)
        #expect(window.runEnd(newest: Instant(seconds: 89), limit: 9).slot == noWindow)
        window.settle(12, newest: Instant(seconds: 92))
        #expect(window.count == 4 && window.last == Instant(seconds: 92))
        #expect(window.runEnd(newest: Instant(seconds: 92), limit: 9).slot == noWindow)
        var queued = filled(2)
        _ = queued.enqueue()
        #expect(queued.runEnd(newest: newest, limit: 9).slot == noWindow)
    }
}
