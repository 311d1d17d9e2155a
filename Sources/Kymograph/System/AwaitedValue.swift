import Synchronization

/// The value that a completion is called with, on whatever thread.
final class AwaitedValue<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// Calls `body` and waits until it has called back, which it must.
    static func waiting(_ body: (@escaping @Sendable (Value) -> Void) -> Void) -> Value {
        let awaited = AwaitedValue()
        body { value in awaited.value.withLock { $0 = value } }
        while true {
            if let value = awaited.value.withLock({ $0 }) { return value }
            Wait.milliseconds(5)
        }
    }
}
