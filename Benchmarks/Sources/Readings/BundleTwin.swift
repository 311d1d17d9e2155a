import CLimits
import KymographCore

/// What ``FHIRStage`` does, by the same work in C; ``agrees(observations:)`` shows that the bytes are the same.
@safe
package struct BundleTwin: ~Copyable, Stage {
    private let bundles: OpaquePointer
    private let devices: [[UInt8]]
    private let samples: [limits_sample]
    private var number = 0
    /// Bytes of finished bundles so far.
    package private(set) var bytesWritten = 0
    /// Where finished bundles are kept, when they are.
    private var kept: [UInt8]?

    /// Writes Observations of `devices` devices in turn.
    package init(devices: Int = 32) {
        // Safe: the twin owns what it makes, and frees it in deinit.
        unsafe bundles = limits_bundles_make()
        self.devices = (0..<devices).map { Array("dev-\(10_000 + $0)".utf8) }
        samples = (0..<FHIRStage.readingsPerObservation).map { index in
            limits_sample(mantissa: FHIRStage.rate(index), exponent: 0, is_present: 1)
        }
    }

    deinit {
        unsafe limits_bundles_free(bundles)
    }

    /// Writes `count` Observations.
    package mutating func run(_ count: Int) {
        for _ in 0..<count {
            while !add() { finish() }
            number += 1
        }
    }

    private func add() -> Bool {
        let start = FHIRStage.start(of: number / devices.count % FHIRStage.windows).nanoseconds / 1_000_000
        let device = devices[number % devices.count]
        // Safe: the window is read before the arrays can go.
        return unsafe device.withUnsafeBufferPointer { name in
            unsafe samples.withUnsafeBufferPointer { samples in
                var window = unsafe limits_window(
                    device: name.baseAddress, device_length: name.count, start: start,
                    end: start + FHIRStage.period / 1_000_000, samples: samples.baseAddress, count: samples.count)
                return unsafe limits_bundles_add(bundles, &window) != 0
            }
        }
    }

    private mutating func finish() {
        var length = 0
        let bytes = unsafe limits_bundles_finish(bundles, &length)
        bytesWritten += length
        // Safe: the twin wrote `length` bytes.
        if kept != nil { unsafe kept?.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length)) }
        unsafe limits_bundles_reset(bundles)
    }

    /// Whether both write the same bundles of `observations` Observations.
    package static func agrees(observations: Int = 1_000) -> Bool {
        var twin = BundleTwin()
        twin.kept = []
        twin.run(observations)
        var stage = FHIRStage()
        return twin.kept == stage.finishedBundles(of: observations)
    }
}
