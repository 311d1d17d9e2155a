import CKymographLinux
import Glibc
import KymographCore
import Synchronization

/// Brings lines of receipts from the store to whoever reads a Unix socket, on a thread of its own.
///
/// One reader at a time; others wait until it has gone. A line leaves the store when the reader has taken it out of the
/// socket: what it had not when it went comes again to the next one, with the same id. Without a reader lines wait, as
/// they do for files that take nothing. What readers do holds up nothing else.
final class ReceiptSocket: Sendable {
    private let store: Store
    private let progress: ReceiptProgress
    private let listener: Descriptor
    private let file: SocketFile
    private let control: PipelineControl
    /// Readable when there may be lines, or the end has come.
    private let event: Descriptor
    private let isStarted = Atomic(false)
    private let isFinishing = Atomic(false)
    private let thread = RunningThreads(1)

    /// Lines and bytes that are under way at a time: what the socket holds, so that it is empty again soon.
    private static let (most, mostBytes) = (200, 64 << 10)
    /// Bytes that are sent at a time: what the system tells of the unread falls by whole such pieces.
    private static let pieceBytes = 1 << 10

    /// Listens at `path`, for the owner alone.
    ///
    /// - Throws: ``PipelineError`` when that cannot be done.
    init(_ store: Store, path: String, control: PipelineControl) throws(PipelineError) {
        (self.store, self.control) = (store, control)
        do throws(SourceError) {
            (listener, file) = try SocketFile.bind(path, type: Int32(SOCK_STREAM.rawValue), mode: 0o600)
        } catch {
            var failure = PipelineError(error)
            failure.message = "receiptSocket: \(error.message)"
            throw failure
        }
        let raw = kymo_event_create()
        guard raw >= 0 else { throw PipelineError(SystemError(-raw, "create", "an event for receipts")) }
        event = Descriptor(raw)
        progress = store.beginReceipts(for: .socket)
    }

    /// Starts the thread.
    func start() {
        isStarted.store(true, ordering: .releasing)
        WorkerThread.start("kymo-socket") { [self] in
            run()
            file.remove()
            thread.leave()
        }
    }

    /// There may be lines.
    func wake() { _ = kymo_event_raise(event.raw) }

    /// Gives the reader what there is, after the last commit, if it takes that soon; the rest waits for the next run.
    func finish() {
        isFinishing.store(true, ordering: .releasing)
        wake()
        guard isStarted.load(ordering: .acquiring) else { return file.remove() }
        while !thread.isZero, !control.isForced { Wait.milliseconds(1) }
    }

    private func run() {
        var readers = ServedReaders()
        while !control.isForced, !readers.isOver(isFinishing) {
            let raw = kymo_accept(listener.raw)
            if raw >= 0 {
                serve(Descriptor(raw), &readers)
            } else if readers.deadline != nil {
                return
            } else {
                // Out of descriptors, perhaps: whoever waits is still there later.
                let isBusy = -raw != EAGAIN && -raw != EINTR
                if kymo_wait_either(isBusy ? -1 : listener.raw, event.raw, 1_000) & 2 != 0 { clearEvent() }
            }
        }
    }

    private func clearEvent() { _ = kymo_event_wait(event.raw, 0) }

    /// Gives `reader` lines until it goes, or the end comes. One that takes nothing may only have looked whether the
    /// socket is there, and is not spoken of.
    private func serve(_ reader: Descriptor, _ readers: inout ServedReaders) {
        var hasTaken = false
        while !control.isForced, !readers.isOver(isFinishing) {
            let lines = store.receiptLines(after: progress.taken, most: Self.most)
            guard let newest = lines.last else {
                progress.note()
                if readers.deadline != nil { return }
                if ControlSocket.waitForEnd(of: reader, or: event, milliseconds: 1_000) { break }
                clearEvent()
                continue
            }
            guard let number = give(lines, newest.number, to: reader, &readers) else { break }
            progress.take(through: number)
            progress.note()
            store.queue.add { $0.hasTakenReceipts = true }
            if !hasTaken {
                hasTaken = true
                control.note(.info("receipts: \(PeerCredentials(reader.raw)?.text ?? "a process") reads them"))
            }
        }
        if hasTaken, readers.deadline == nil, !control.isForced {
            control.note(.info("receipts: the reader has gone; they wait for the next one"))
        }
    }

    /// Sends `lines`, as many as may be under way, and waits until `reader` has them: the number of the last that it
    /// has, or nil when it has gone, or has not taken them by the end.
    private func give(
        _ lines: [(number: Int64, line: [UInt8])], _ newest: Int64, to reader: Descriptor,
        _ readers: inout ServedReaders
    ) -> Int64? {
        var (bytes, number): ([UInt8], Int64) = ([], newest)
        for (own, line) in lines {
            guard bytes.isEmpty || bytes.count + line.count <= Self.mostBytes else { break }
            bytes += line
            number = own
        }
        var rest = bytes[...]
        var pause: Int32 = 1
        var before: Int32?
        while !control.isForced, !readers.isOver(isFinishing) {
            guard let sent = Self.send(&rest, to: reader) else { return nil }
            if sent > 0 { pause = 1 }
            // Only in this order: what a reader leaves behind is thrown away after it has gone.
            let unread = kymo_unread(reader.raw)
            if unread < 0 {
                noteUnknown(-unread, &readers)
                return nil
            }
            // One that reads little at a time is slow, and not stuck. What has room at first nobody need have read.
            if let before, sent > 0 || unread < before { progress.note() }
            before = unread
            if ControlSocket.waitForEnd(of: reader, or: nil, milliseconds: 0) { return nil }
            if rest.isEmpty, unread == 0 { return number }
            Wait.milliseconds(Int(pause))
            pause = min(pause * 2, 20)
        }
        return nil
    }

    /// Sends as much of `rest` as the socket takes now, which leaves it; how much, or nil when the reader has gone.
    private static func send(_ rest: inout ArraySlice<UInt8>, to reader: Descriptor) -> Int? {
        var total = 0
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceBytes))
            guard let sent = ControlSocket.sendNow(piece, to: reader) else { return nil }
            rest = rest.dropFirst(sent)
            total += sent
            if sent < piece.count { break }
        }
        return total
    }

    /// Says, once, that nobody can know what readers have. They count as gone, and lines wait no longer than for one
    /// that is away.
    private func noteUnknown(_ code: Int32, _ readers: inout ServedReaders) {
        guard !readers.hasToldUnknown else { return }
        readers.hasToldUnknown = true
        let error = SystemError(code, "ask", "what the reader of receipts has not read yet")
        control.note(
            .error("\(error.message); use receipts, which are files, and take receiptSocket out of the configuration"))
    }
}

/// What the thread of a socket of receipts knows over all of its readers.
private struct ServedReaders {
    /// When the last lines must have been taken; nil before the end has come.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether it was said that the system does not tell what is unread.
    var hasToldUnknown = false

    /// How long readers have at the end, all together, for all that waits.
    private static let patience = Duration.seconds(2)

    /// Whether their time at the end is over, which begins when `isFinishing` is first seen to be set.
    mutating func isOver(_ isFinishing: borrowing Atomic<Bool>) -> Bool {
        guard deadline != nil || isFinishing.load(ordering: .acquiring) else { return false }
        let now = ContinuousClock.now
        let end = deadline ?? now + Self.patience
        deadline = end
        return now >= end
    }
}
