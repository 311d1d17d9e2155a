import Glibc

/// Something did not happen in time.
package struct WaitError: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
        self.description = description
    }
}

/// Waits for conditions, never for a fixed time.
package enum Waiting {
    /// Returns when `condition` holds.
    ///
    /// - Throws: ``WaitError`` that names `what`, after `seconds`.
    package static func until(
        _ what: @autoclosure () -> String, seconds: Double = 60, _ condition: () throws -> Bool
    ) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        while try !condition() {
            guard clock.now < deadline else { throw WaitError(description: "waited \(seconds) s for \(what())") }
            usleep(2_000)
        }
    }
}
