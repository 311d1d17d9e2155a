import CKymographLinux

/// Sends the events of one tap to its client, on a thread of its own, until the client or the pipeline ends.
///
/// The client is asked for room ten times a second and never waited for. While it reads nothing, nothing is granted.
final class TapStream {
    private let tap: OpenTap
    private let text: TapText
    private let client: Descriptor
    private let stopEvent: Descriptor
    /// What the client has not taken yet.
    private var pending: [UInt8] = []
    /// Permits that are less than one, in events.
    private var fraction = 0.0
    private var lastGrant = ContinuousClock.now
    /// Events passed over that the client was not told of.
    private var passedOver = 0
    private var lastTold = ContinuousClock.now

    private static let interval: Int32 = 100

    /// Sends to `client`; ends when `stopEvent` is raised, too.
    init(_ tap: OpenTap, _ text: TapText, to client: Descriptor, stopEvent: Descriptor) {
        (self.tap, self.text, self.client, self.stopEvent) = (tap, text, client, stopEvent)
    }

    /// Works until the client or the pipeline has ended.
    func run() {
        defer { client.close() }
        while true {
            let ready = kymo_wait_either(client.raw, stopEvent.raw, TapStream.interval)
            // A client says nothing: what can be read is its end.
            if ready & 1 != 0 { return }
            let isLast = ready & 2 != 0
            collect(isLast: isLast)
            if !send() || isLast { return }
        }
    }

    private func collect(isLast: Bool) {
        guard pending.isEmpty else {
            lastGrant = .now
            return
        }
        for event in tap.takeEvents() { pending += text.line(event) }
        passedOver += tap.takePassedOver()
        let now = ContinuousClock.now
        if passedOver > 0, isLast || lastTold.duration(to: now) >= .seconds(1) {
            pending += Array("# \(TapText.grouped(passedOver)) more\n".utf8)
            (passedOver, lastTold) = (0, now)
        }
        fraction += Double(tap.request.rate) * (lastGrant.duration(to: now) / .seconds(1))
        lastGrant = now
        let count = min(Int(fraction), tap.request.rate)
        fraction = min(fraction - Double(count), 1)
        tap.grant(count)
    }

    /// Sends what the client has room for; false when it has gone.
    private func send() -> Bool {
        while !pending.isEmpty {
            guard let count = ControlSocket.sendNow(pending, to: client) else { return false }
            if count == 0 { return true }
            pending.removeFirst(count)
        }
        return true
    }
}
