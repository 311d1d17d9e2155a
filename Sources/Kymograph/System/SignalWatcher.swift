import CKymographLinux

/// Turns SIGINT, SIGTERM and SIGHUP into something to read, and ignores SIGPIPE.
///
/// Make it on the main thread before any other thread starts: threads inherit the blocked signals, and a signal that
/// one thread does not block would end the process.
package final class SignalWatcher: Sendable {
    /// A signal that asks for something.
    package enum Signal: Int32, Sendable {
        /// SIGHUP: load the mappings again, or the terminal has gone.
        case hangup = 1
        /// SIGINT: the user pressed Ctrl-C.
        case interrupt = 2
        /// SIGTERM: the service manager asks to stop.
        case terminate = 15
    }

    private let descriptor: Descriptor

    /// Blocks the signals in the calling thread.
    ///
    /// - Throws: ``SystemError`` when the system gives no descriptor for signals.
    package init() throws(SystemError) {
        let raw = kymo_signals_open()
        guard raw >= 0 else { throw SystemError(-raw, "watch", "signals") }
        descriptor = Descriptor(raw)
    }

    /// Becomes readable when a signal waits.
    package var fileDescriptor: Int32 { descriptor.raw }

    /// The next signal, or nil when none waits. Does not block.
    package func next() -> Signal? {
        Signal(rawValue: kymo_signals_next(descriptor.raw))
    }
}
