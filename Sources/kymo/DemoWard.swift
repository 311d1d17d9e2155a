import Glibc
import Kymograph
import KymographCore
import KymographTestKit

/// Four simulated devices, three of which are in trouble.
struct DemoWard: Sendable {
    /// Whose they are.
    let patients = "device,patient\nwatch-1,p-1\nwatch-2,p-2\nstrap-3,p-3\noximeter-4,p-4\n"
    let patientsFile: String
    let socket: String
    private let seed: UInt64

    private static let second: Int64 = 1_000_000_000
    /// How far back it begins.
    private static let history: Int64 = 6 * 3_600
    /// Seconds between two readings of a device in the history, and from then on.
    private static let steps: (history: Int64, live: Int64) = (30, 1)

    /// What lives in `folder`; another `seed`, other values.
    init(seed: UInt64, folder: String) {
        (self.seed, patientsFile, socket) = (seed, "\(folder)/patients.csv", "\(folder)/ward.sock")
    }

    /// Sends until the instance takes no more.
    func play() {
        var generator = SeededGenerator(seed: seed)
        do throws(SendingError) {
            var sender = try ReadingSender(to: .unixStream(path: socket))
            var time = Self.now - Self.history
            while time < Self.now {
                try send(at: time, step: Self.steps.history, &sender, &generator)
                time += Self.steps.history
            }
            while true {
                try sender.flush()
                usleep(200_000)
                while time <= Self.now {
                    try send(at: time, step: Self.steps.live, &sender, &generator)
                    time += Self.steps.live
                }
            }
        } catch {
            // The instance has ended, and this with it.
        }
    }

    private static var now: Int64 { WallClock.now().nanoseconds / second }

    /// What each device measures at `time`, in seconds since 1970.
    private func send(
        at time: Int64, step: Int64, _ sender: inout ReadingSender, _ generator: inout SeededGenerator
    ) throws(SendingError) {
        let turn = time / step
        let wave = Int(abs(turn % 120 - 60)) / 6
        for (number, device) in ["watch-1", "watch-2", "strap-3", "oximeter-4"].enumerated() {
            // It is out of reach for five minutes of each half an hour.
            if device == "watch-2", time % 1_800 < 300 { continue }
            let isWild = device == "strap-3" && turn % 40 == 7
            let isStranger = device == "oximeter-4" && turn % 60 == 11
            let patient = isStranger ? "p-1" : "p-\(number + 1)"
            let value = Int.random(in: 0...6, using: &generator) + wave
            let reading =
                device == "oximeter-4"
                ? ("oxygenSaturation", 99 - value / 4, "%") : ("heartRate", 58 + number * 6 + value, "/min")
            var line = ByteWriter(capacity: 256)
            line.append(Array(text(device, patient, reading, at: time + (isWild ? 3 * 3_600 : 0)).utf8))
            try sender.send(line.view)
        }
    }

    private func text(
        _ device: String, _ patient: String, _ reading: (type: String, value: Int, unit: String), at time: Int64
    ) -> String {
        let text = Instant(nanoseconds: time * Self.second).text
        return """
            {"deviceId":"\(device)","patientId":"\(patient)","type":"\(reading.type)","timestamp":"\(text)",\
            "value":\(reading.value),"unit":"\(reading.unit)"}

            """
    }
}
