import Kymograph

/// Takes no reading of withdrawn patients, tags those of the study, sends nothing of devices on a bench, and notes in
/// Observations of a ward where they were made.
struct StudyHook: ReadingHook, EntryHook {
    var name: String { "study" }
    var withdrawn: Set<IdentifierText>
    var patches: [String] { [#"{"note": "Ward 3", "tag": [{"system": "urn:study", "code": "ward"}]}"#] }

    func decide(_ reading: HookedReading) -> ReadingDecision {
        if let patient = reading.patient, withdrawn.contains(patient) { return .reject("the patient has withdrawn") }
        guard case .number(let rate)? = reading.values["beatsPerMinute"] else { return .accept }
        return .rewrite(rate == "0" ? ["beatsPerMinute": .number("1")] : [:], tags: ["urn:study|s1"])
    }

    func isVetoed(_ resource: [UInt8]) -> Bool {
        String(decoding: resource, as: UTF8.self).contains("\"value\":\"bench-")
    }

    func patches(for resource: [UInt8]) -> [Int] {
        String(decoding: resource, as: UTF8.self).contains("\"value\":\"ward-") ? [0] : []
    }
}
