import KymographCore
import Testing
import TrialSupport

@Suite struct WindowLimitTests {
    @Test func devicesOverTheLimitAreNotIntroduced() {
        let type = MeasurementType(name: "t", valueNames: ["v"], grouping: .instance, isNumeric: [true])
        let settings = WindowSettings(limits: WindowLimits(maxDevices: 2))
        var machine = WindowMachine(types: [type, type], settings: settings)
        #expect(machine.define(SeriesIdentity(type: 0, device: [1])) == 0)
        #expect(machine.define(SeriesIdentity(type: 0, device: [2])) == 1)
        let room = Introductions(
            devices: LimitFill(met: 2, limit: 2), series: LimitFill(met: 2, limit: settings.limits.maxSeries))
        #expect(machine.introductions == room)
        #expect(machine.define(SeriesIdentity(type: 0, device: [3])) == nil)
        #expect(machine.define(SeriesIdentity(type: 1, device: [2])) == 2)
        #expect(machine.define(SeriesIdentity(type: 0, device: [1])) == 0)
        #expect(machine.identity(of: 2) == SeriesIdentity(type: 1, device: [2]))
        #expect(machine.counters.devices == 2 && machine.counters.series == 3)
        #expect(machine.introductions.devices == LimitFill(met: 2, limit: 2, refuses: true))
        #expect(machine.introductions.series == LimitFill(met: 3, limit: settings.limits.maxSeries))
    }

    @Test func everySeriesOfManyKeepsItsNumber() {
        let type = MeasurementType(name: "t", valueNames: ["v"], grouping: .instance, isNumeric: [true])
        var machine = WindowMachine(
            types: [type, type], settings: WindowSettings(limits: WindowLimits(maxSeries: 5_000)))
        let identities = (0..<5_000).map { SeriesIdentity(type: $0 % 2, device: Array("device \($0 / 2)".utf8)) }
        for (number, identity) in identities.enumerated() { #expect(machine.define(identity) == number) }
        for (number, identity) in identities.enumerated().reversed() {
            #expect(machine.define(identity) == number && machine.identity(of: number) == identity)
        }
        #expect(machine.define(SeriesIdentity(type: 0, device: [1])) == nil)
        #expect(machine.counters.devices == 2_500 && machine.counters.series == 5_000)
        #expect(machine.introductions.series == LimitFill(met: 5_000, limit: 5_000, refuses: true))
        #expect(!machine.introductions.devices.refuses)
    }

    @Test func identitiesThatJoinToOneTextStayApart() {
        let type = MeasurementType(name: "t", valueNames: ["v"], grouping: .instance, isNumeric: [true])
        var machine = WindowMachine(types: [type], settings: WindowSettings())
        let one = machine.define(SeriesIdentity(type: 0, device: Array("a-b".utf8), patient: Array("c".utf8)))
        let other = machine.define(SeriesIdentity(type: 0, device: Array("a".utf8), patient: Array("b-c".utf8)))
        #expect(one != other)
    }

    @Test func windowsOverTheLimitAreRejectedAndOpenOnesUnaffected() {
        var run = WindowRun(series: 3, settings: WindowSettings(limits: WindowLimits(maxOpenWindows: 2)))
        run.add(.at(1))
        run.add(.at(1, series: 1))
        #expect(run.add(.at(1, series: 2)) == .rejected(.tooManyWindows))
        #expect(run.add(.at(2)) == .accepted)
        run.finish()
        #expect(run.add(.at(1, series: 2)) == .accepted)
    }

    @Test func readingsOverTheLimitAreRejected() {
        var run = WindowRun(settings: WindowSettings(limits: WindowLimits(maxReadingsPerWindow: 3)))
        for at in [Int64(1), 2, 4] { #expect(run.add(.at(at)) == .accepted) }
        #expect(run.add(.at(3)) == .rejected(.tooManyReadings))
        #expect(run.add(.at(4)) == .duplicate)
        run.finish()
        #expect(run.add(.at(3)) == .rejected(.tooManyReadings))
        run.finish()
        #expect(run.statuses(0) == [.final])
        #expect(run.shown.first?.content.split(separator: "\n").count == 3)
    }

    @Test func aPartialNeverReplacesAnEvictedWindow() {
        for seed in Trials.seeds(100) {
            var random = WindowRandom(seed: seed)
            let limits = WindowLimits(archiveBytes: random.int(100...3_000))
            var run = WindowRun(series: 2, settings: WindowSettings(lateness: 0, limits: limits))
            var oracle = WindowOracle(period: minute)
            var counts = [0, 0]
            for index in 0..<400 {
                let at = Int64(index) * 10 - (random.once(in: 4) ? Int64(random.int(0...3_000)) : 0)
                let reading = TestReading.at(at, Int64(index), received: Int64(index), series: random.int(0...1))
                let outcome = run.add(reading)
                let isRejected = outcome == .rejected(.archiveEvicted)
                counts[isRejected ? 1 : 0] += 1
                if !isRejected { #expect(outcome == oracle.add(reading), "seed \(seed)") }
                run.take()
                #expect(run.machine.counters.archivedBytes <= limits.archiveBytes)
            }
            run.finish()
            #expect(run.last == oracle.contents, "seed \(seed)")
            #expect(run.machine.counters.evictedWindows > 0 && counts[0] + counts[1] == 400)
        }
    }
}
