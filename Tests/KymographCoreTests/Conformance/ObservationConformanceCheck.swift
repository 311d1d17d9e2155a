import Foundation
import Kymograph
import KymographCore
import KymographTemplates

/// Runs one case and says how the outcome differs from what the reference system gives; empty when it does not.
struct ObservationConformanceCheck {
    let subject: ObservationConformanceCase
    let compatibility: Compatibility
    private(set) var differences: [String] = []

    static func differences(
        _ subject: ObservationConformanceCase, _ compatibility: Compatibility
    ) throws -> [String] {
        var check = ObservationConformanceCheck(subject: subject, compatibility: compatibility)
        let expectsError = subject.expected["error"] != nil
        do {
            try check.run()
            if expectsError { check.expect(false, "an error expected") }
        } catch let failure where expectsError && check.isRefusal(failure) {
            return check.differences
        } catch {
            check.expect(false, "\(error)")
        }
        return check.differences
    }

    /// Whether `failure` is this project's way to refuse what the case has: a mapping that does not load, a reading
    /// that is rejected, Observations that do not merge.
    private func isRefusal(_ failure: any Error) -> Bool {
        failure is MappingRun.LoadFailure || failure is ReferenceRun.Refused || failure is ObservationMerge.Failure
    }

    private init(subject: ObservationConformanceCase, compatibility: Compatibility) {
        self.subject = subject
        self.compatibility = compatibility
    }

    mutating func expect(_ condition: Bool, _ what: String) {
        if !condition { differences.append(what) }
    }

    private mutating func run() throws {
        switch subject.operation {
        case "build", "build_then_parse", "parse", "merge": series()
        case "create_value": compare(try created(value: subject.template, input: subject.input), subject.expected)
        case "create_observation": try createObservation()
        case "merge_value": try mergeValue()
        case "merge_observation": try mergeObservation()
        case "observation_groups": try observationGroups()
        case "measurement_groups": try measurementGroups()
        case "id_segment", "observation_identifier": try identity()
        case "reference_id": referenceID()
        case "resource_id": resourceID()
        default: expect(false, "unknown operation \(subject.operation)")
        }
    }

    // MARK: Comparing

    /// Expects what `expected` says of `found`; members that it does not name may be anything.
    mutating func compare(_ found: JSONNode, _ expected: JSONNode, existing: JSONNode? = nil, _ place: String = "") {
        for member in expected.members ?? [] where !["rebuild_window", "error"].contains(member.name) {
            let here = "\(place)/\(member.name)"
            let value = member.name == "value" && place.hasSuffix("/observation") ? found.value : found[member.name]
            if member.node["$present"] != nil {
                expect(value != nil, "\(here) expected")
            } else if member.node["$absent"] != nil {
                expect(value == nil, "\(here) not expected")
            } else if member.node["$same"] != nil {
                expect(value?.string == existing?[member.name]?.string, "\(here) expected to stay")
            } else {
                compareValue(value, member.node, here)
            }
        }
    }

    private mutating func compareValue(_ found: JSONNode?, _ expected: JSONNode, _ place: String) {
        if let elements = expected.elements {
            let count = found?.elements?.count ?? 0
            guard count == elements.count else { return expect(false, "\(place): \(count) elements") }
            for (index, element) in elements.enumerated() {
                compareValue(found?.elements?[index], element, "\(place)/\(index)")
            }
            return
        }
        guard let found else { return expect(false, "\(place) expected") }
        if expected.members != nil { return compare(found, expected, place) }
        let isSame = expected.instant.map { $0 == found.instant } ?? (found.canonical() == expected.canonical())
        expect(isSame, "\(place): \(expected.canonical()) expected, found \(found.canonical())")
    }

    private mutating func compare(_ found: JSONNode, _ expected: JSONNode, _ place: String) {
        compare(found, expected, existing: nil, place)
    }

    // MARK: Identifiers

    private mutating func referenceID() {
        let id = ResourceReference.id(
            of: subject.input["reference"]?.string ?? "", type: subject.input["type"]?.string ?? "")
        expect(id == subject.expected["id"]?.string, "found \(id ?? "none")")
    }

    private mutating func resourceID() {
        let id = testDigest.resourceID(
            system: subject.input["identifier.system"]?.string ?? "",
            value: subject.input["identifier.value"]?.string ?? "")
        expect(id == subject.expected["id"]?.string, "found \(id)")
    }

    /// Identifiers and their segments, out of Observations.
    private mutating func identity() throws {
        let input = subject.input
        let correlation = input["CorrelationId"]?.string ?? input["segment"]?.string
        let start = input["start"]?.instant ?? Instant(seconds: 0)
        let end = input["end"]?.instant ?? start
        let name = input["name"]?.string ?? "t"
        let interval = correlation != nil ? "-1" : start == end ? "0" : "60"
        let body = try TextJSON.parse(
            #"{"typeName":"\#(name)","codes":[],"effective":"window","periodInterval":\#(interval),"#
                + #""value":{"valueType":"String","valueName":"v"}}"#)
        let run = try ReferenceRun(
            body: body, names: ["v"], compatibility: compatibility, hasCorrelation: correlation != nil)
        let observation = try run.observation(
            ["v": [SeriesSample(instant: start, text: "x")]], start: start, end: end, correlation: correlation,
            tick: subject.expected["segment"] == nil ? nil : 100)
        let found = observation["identifier.0.value"]?.string ?? ""
        let (patient, device) = (logicalID("patientId"), logicalID("deviceId"))
        if let segment = subject.expected["segment"]?.string {
            expect(found == "\(patient).\(device).\(name).\(segment)", "found \(found)")
        }
        if let identifier = subject.expected["identifier"] {
            let value = (identifier["value"]?.string ?? "").replacing("patientId", with: patient)
                .replacing("deviceId", with: device)
            expect(found == value, "\(value) expected, found \(found)")
            expect(observation["identifier.0.system"]?.string == identifier["system"]?.string, "its system expected")
        }
        let period = observation["effectivePeriod"]
        for bound in ["start", "end"] {
            guard let expected = subject.expected[bound]?.instant else { continue }
            expect(period?[bound]?.instant == expected, "\(bound): found \(period.map(JSONText.write) ?? "none")")
        }
    }

    /// The logical id of a Patient or Device: by default identities have the identifiers themselves.
    private func logicalID(_ value: String) -> String {
        compatibility == .iomtFHIR ? testDigest.resourceID(system: "", value: value) : value
    }
}

extension JSONNode {
    /// The `value…` member of an Observation.
    fileprivate var value: JSONNode? {
        members?.first { $0.name.hasPrefix("value") && $0.name != "value" }?.node
    }
}
