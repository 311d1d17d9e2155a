import KymographCore

/// What a measurement is about, as far as its names tell.
enum ClinicalConcept: CaseIterable {
    // Phrases are looked for in this order, and each is taken out when found: heart rate variability is no heart rate.
    case heartRateVariability, heartRate, respiratoryRate, oxygenSaturation, temperature, bodyMassIndex, weight
    case headCircumference, height, systolic, diastolic, bloodPressure, glucose, steps, distance, energy, sleep

    /// Words, lower case, that name it.
    private var phrases: [String] {
        switch self {
        case .heartRateVariability: ["heart rate variability", "hrv", "sdnn", "rmssd"]
        case .heartRate: ["heart rate", "heartrate", "pulse rate", "pulserate", "heart beat", "heartbeat"]
        case .respiratoryRate:
            ["respiratory rate", "respiration rate", "breathing rate", "respiratoryrate", "respirationrate"]
        case .oxygenSaturation: ["oxygen saturation", "oxygensaturation", "sp o2", "spo2", "blood oxygen"]
        case .temperature: ["temperature", "bodytemperature", "body temp"]
        case .bodyMassIndex: ["body mass index", "bmi"]
        case .weight: ["weight", "bodyweight", "body mass", "bodymass"]
        case .headCircumference: ["head circumference"]
        case .height: ["height", "bodyheight"]
        case .systolic: ["systolic"]
        case .diastolic: ["diastolic"]
        case .bloodPressure: ["blood pressure", "bloodpressure"]
        case .glucose: ["glucose", "bloodglucose", "blood sugar"]
        case .steps: ["steps", "step count", "stepcount"]
        case .distance: ["distance"]
        case .energy: ["energy", "calories", "kilocalories"]
        case .sleep: ["sleep", "sleep duration"]
        }
    }

    /// What messages call it.
    var name: String {
        switch self {
        case .heartRateVariability: "heart rate variability"
        case .heartRate: "heart rate"
        case .respiratoryRate: "respiratory rate"
        case .oxygenSaturation: "oxygen saturation"
        case .bodyMassIndex: "body mass index"
        case .headCircumference: "head circumference"
        case .bloodPressure: "blood pressure"
        case .systolic: "systolic blood pressure"
        case .diastolic: "diastolic blood pressure"
        case .temperature, .weight, .height, .glucose, .steps, .distance, .energy, .sleep: phrases[0]
        }
    }

    /// What `text`, a display or a name such as `diastolicBloodPressure`, is about: nothing when no phrase is in it.
    ///
    /// Which of the blood pressures it is counts for more than that it is one.
    static func named(in text: String) -> Set<ClinicalConcept> {
        var words = spacedWords(of: text)
        var found: Set<ClinicalConcept> = []
        for (concept, phrase) in phrases {
            guard let place = firstPlace(of: phrase, in: words) else { continue }
            found.insert(concept)
            words.replaceSubrange(place, with: [space])
        }
        if found.contains(.systolic) || found.contains(.diastolic) { found.remove(.bloodPressure) }
        return found
    }

    /// The words of `text` in lower case, with a space before and after each.
    private static func spacedWords(of text: String) -> [UInt8] {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return Array(" \(text.wordsInLowerCase.joined(separator: " ")) ".utf8)
        }
        // As ``Swift/String/wordsInLowerCase`` does it, without asking Unicode's tables for each letter.
        var words = [space]
        var isAfterLower = false
        for byte in text.utf8 {
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let isLower = isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            if !(isUpper || isLower) || (isUpper && isAfterLower), words.last != space { words.append(space) }
            if isUpper || isLower { words.append(isUpper ? byte | 0x20 : byte) }
            isAfterLower = isLower
        }
        return words.last == space ? words : words + [space]
    }

    private static let space = UInt8(ascii: " ")
    /// All phrases with a space before and after, in order; as bytes, because a catalogue looks for thousands.
    private static let phrases = allCases.flatMap { concept in
        concept.phrases.map { (concept, Array(" \($0) ".utf8)) }
    }

    /// Where `phrase` is in `text` for the first time.
    private static func firstPlace(of phrase: [UInt8], in text: [UInt8]) -> Range<Int>? {
        var place = 0
        while place + phrase.count <= text.count {
            if text[place + 1] == phrase[1], text[place..<place + phrase.count].elementsEqual(phrase) {
                return place..<place + phrase.count
            }
            place += 1
        }
        return nil
    }
}

extension String {
    /// The words of a text or of a name in camel case or with separators; digits belong to the word before them.
    fileprivate var wordsInLowerCase: [String] {
        var words: [String] = []
        var word = ""
        var isAfterLower = false
        for character in self {
            let isWord = character.isLetter || character.isNumber
            if !isWord || (character.isUppercase && isAfterLower) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if isWord { word += character.lowercased() }
            isAfterLower = character.isLowercase || character.isNumber
        }
        return word.isEmpty ? words : words + [word]
    }
}
