import CLimits

/// Adds the readings of ``InsertStage`` to windows in C that keep them; nothing ever leaves those.
@safe
package struct InsertTwin: ~Copyable, Stage {
    private var load: InsertLoad
    private let windows: OpaquePointer
    private var records: [limits_record]

    /// Makes windows for four series of each of `devices` devices, and fills them as ``InsertStage`` does.
    package init(devices: Int, perWindow: Int) {
        load = InsertLoad(devices: devices, perWindow: perWindow)
        // Safe: never freed, because the process ends soon.
        unsafe windows = limits_windows_kept_make(UInt32(load.count), InsertLoad.period)
        records = Array(repeating: limits_record(), count: InsertLoad.batch)
        run(load.count * (perWindow + InsertLoad.warmRounds))
    }

    /// Adds `count` readings.
    package mutating func run(_ count: Int) {
        var left = count
        while left > 0 {
            let size = min(left, InsertLoad.batch)
            for index in 0..<size {
                let (series, instant) = load.next()
                records[index].series = series
                records[index].instant = instant
            }
            // Safe: the records outlive the call.
            unsafe limits_windows_kept_add(windows, records, size)
            left -= size
        }
    }
}
