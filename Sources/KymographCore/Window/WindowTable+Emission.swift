extension WindowTable {
    /// What the first window in the queue needs.
    enum Due {
        /// Nothing is in the queue.
        case nothing
        /// It is to be emitted.
        case emission(Emission)
        /// It has nothing more to show: its content goes to the archive and it leaves memory.
        case retirement(window: Int)
    }

    /// Finds what is due first, dropping windows from the queue that have nothing to show and stay open.
    mutating func due() -> Due {
        if !withdrawn.isEmpty { return .emission(withdrawnEmission()) }
        while let index = queue.first {
            switch windows[index].due {
            case .nothing: dequeue()
            case .reading: return .emission(readingEmission(index))
            case .emission(let status): return .emission(emission(index, status))
            case .retirement: return .retirement(window: index)
            }
        }
        return .nothing
    }

    /// Takes the first window out of the queue.
    mutating func dequeue() {
        guard let index = queue.first else { return }
        windows[index].dequeue()
        queue.removeFirst()
    }

    private mutating func emission(_ index: Int, _ status: ObservationStatus) -> Emission {
        prefetchDue()
        runs.unpack(&windows[index])
        windows[index].beginEmission()
        let window = windows[index]
        let isOpenEnded = windows.series[Int(window.series)].period == 0
        let first = window.count > 0 ? runs[Int(window.readings)].instant : window.last
        let start = isOpenEnded ? first : window.span.start
        return Emission(
            series: Int(window.series), status: status, start: start, end: isOpenEnded ? window.last : window.span.end,
            window: UInt32(index))
    }

    /// Prefetches what is due next while the first is being shown: these readings have not been looked at since they
    /// came.
    private mutating func prefetchDue() {
        if let next = queue.behindFirst(1) {
            let window = windows.unsettled(next)
            windows.series.prefetch(Int(window.series))
            runs.prefetchFirst(of: window)
        }
        // What is known of the one behind the next is prefetched by its series: by then its record must be at hand.
        if let later = queue.behindFirst(3) { windows.prefetch(later) }
    }

    /// The window that is due `places` after the first, if there is one.
    @inline(__always)
    func dueWindow(behindFirst places: Int) -> OpenWindow? { queue.behindFirst(places).map { windows.unsettled($0) } }

    /// A reading that was taken back after it had been shown: its Observation was an error.
    @inline(never)
    private func withdrawnEmission() -> Emission {
        let next = withdrawn.next
        return Emission(
            series: next.series, status: .enteredInError, start: next.instant, end: next.instant, window: noWindow,
            slot: UInt32(next.slot))
    }

    private mutating func readingEmission(_ index: Int) -> Emission {
        let slot = runs.firstUnsent(of: &windows[index])
        runs[slot].mark |= ReadingMark.sending
        let status: ObservationStatus = runs[slot].mark & ReadingMark.emitted == 0 ? .final : .amended
        let instant = runs[slot].instant
        return Emission(
            series: Int(windows[index].series), status: status, start: instant, end: instant, window: UInt32(index))
    }

    /// Whether what `emission` shows may have been shown before, other than as its status says.
    @inline(__always)
    func mayHaveBeenSeen(_ emission: Emission) -> Bool {
        emission.isWithdrawn || windows.unsettled(Int(emission.window)).mayHaveShownBefore
    }

    /// Notes who gets the Observation of `emission`.
    mutating func leaves(_ emission: Emission, by route: BundleRoute) {
        if emission.isWithdrawn { return }
        windows[Int(emission.window)].leaves(by: route)
    }

    /// The readings that `emission` shows.
    mutating func readings(of emission: Emission) -> WindowReadings {
        if emission.isWithdrawn { return runs.reading(Int(emission.slot)) }
        let window = windows[Int(emission.window)]
        precondition(Int(window.series) == emission.series, "the emission was settled before")
        guard window.isCarrier else {
            precondition(!window.isPacked, "the emission was settled before")
            return runs.readings(of: window)
        }
        return runs.reading(slot(of: emission))
    }

    /// The sources of readings that its window has lost since it was shown.
    @inline(__always)
    func formerSources(of emission: Emission) -> UInt16 {
        lostSources.isEmpty ? 0 : lostSources[Int(emission.window)] ?? 0
    }

    /// The tags of readings that its window has lost since it was shown.
    @inline(__always)
    func formerTags(of emission: Emission) -> [UInt8] {
        lostTags.isEmpty ? [] : lostTags[Int(emission.window)] ?? []
    }

    /// Whether any reading that `emission` shows may have something beside its inline numbers.
    @inline(__always)
    func hasBlocks(_ emission: Emission) -> Bool {
        emission.isWithdrawn || windows[Int(emission.window)].hasBlocks
    }

    /// Notes that the owner has encoded `emission`, which must be the first of the queue, or that rules keep it from
    /// all sinks (`isVetoed`).
    mutating func settle(_ emission: Emission, isVetoed: Bool) {
        if emission.isWithdrawn {
            runs.forgetApart(Int(emission.slot))
            return withdrawn.removeFirst()
        }
        let index = Int(emission.window)
        precondition(queue.first == index, "emissions are settled in the order in which they are given")
        if windows[index].isCarrier { return settleReading(emission, in: index, isVetoed: isVetoed) }
        windows[index].settleEmission(emission.status, isVetoed: isVetoed)
        if emission.status != .preliminary { forgetLostSources(index) }
        if emission.status == .preliminary, !windows[index].isClosing { _ = runs.packOlder(&windows[index]) }
    }

    /// The slot of the reading that `emission` of a carrier shows.
    private func slot(of emission: Emission) -> Int {
        guard let slot = runs.slotBeingSent(at: emission.start, in: windows[Int(emission.window)]) else {
            preconditionFailure("the emission was settled before")
        }
        return slot
    }

    private mutating func settleReading(_ emission: Emission, in index: Int, isVetoed: Bool) {
        let slot = slot(of: emission)
        let isAsEncoded = runs[slot].mark & ReadingMark.sending != 0
        let shown = isVetoed && !windows[index].isInDoubt ? 0 : ReadingMark.emitted
        runs[slot].mark = (runs[slot].mark | shown) & ~ReadingMark.sending
        guard isAsEncoded else { return }
        runs[slot].mark &= ~ReadingMark.unsent
        windows[index].noteSent()
    }
}

/// A window, or in instance grouping a reading, that is due to become an Observation.
package struct Emission: Equatable, Sendable {
    /// Series number within the machine.
    package let series: Int
    /// Status to emit.
    package let status: ObservationStatus
    /// First instant, as in ``WindowContent/start``.
    package let start: Instant
    /// End, as in ``WindowContent/end``.
    package let end: Instant
    /// Place in the table of open windows; ``noWindow`` of a reading that has left its own.
    let window: UInt32
    /// Where such a reading is.
    var slot = noWindow

    /// Whether it shows a reading that was taken back.
    @inline(__always)
    var isWithdrawn: Bool { window == noWindow }
}
