/// Which devices are of one patient at a time, so that no reading of theirs is filed for two. For any thread.
package protocol DeviceGuard: AnyObject, Sendable {
    /// Another number than before when ``holds(_:)`` may give another answer. A lane that gives a reading another
    /// patient has seen it before.
    var generation: Int { get }

    /// Whether `device` is one of them. One that was stays one.
    func holds(_ device: [UInt8]) -> Bool
}
