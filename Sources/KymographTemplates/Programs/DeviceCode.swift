import KymographCore

/// Codes of IEEE 11073-10101 ("MDC") for what LOINC codes name, as 32-bit decimals: partition × 65,536 + code.
///
/// Only those that are one thing in both. A heart rate (8867-4) is 149530 from a pulse oximeter, 149546 from a cuff and
/// 147842 from an electrocardiograph: a template has to say which.
enum DeviceCode {
    static let system = "urn:iso:std:iso:11073:10101"

    private static let codes: [String: (code: String, name: String)] = [
        "2708-6": ("150456", "MDC_PULS_OXIM_SAT_O2"),
        "59408-5": ("150456", "MDC_PULS_OXIM_SAT_O2"),
        "85354-9": ("150020", "MDC_PRESS_BLD_NONINV"),
        "8480-6": ("150021", "MDC_PRESS_BLD_NONINV_SYS"),
        "8462-4": ("150022", "MDC_PRESS_BLD_NONINV_DIA"),
        "8478-0": ("150023", "MDC_PRESS_BLD_NONINV_MEAN"),
        "8310-5": ("150364", "MDC_TEMP_BODY"),
        "29463-7": ("188736", "MDC_MASS_BODY_ACTUAL"),
        "41653-7": ("160184", "MDC_CONC_GLU_CAPILLARY_WHOLEBLOOD"),
        "14743-9": ("160184", "MDC_CONC_GLU_CAPILLARY_WHOLEBLOOD"),
        "99504-3": ("160212", "MDC_CONC_GLU_ISF"),
        "105272-9": ("160212", "MDC_CONC_GLU_ISF"),
    ]

    /// The MDC coding for a LOINC coding, or nil.
    static func coding(for coding: Coding) -> Coding? {
        guard coding.system == LOINC.system, let found = coding.code.flatMap({ codes[$0] }) else { return nil }
        return Coding(system: system, code: found.code, display: found.name, position: coding.position)
    }

    /// `concept` with its MDC coding first, its LOINC coding second, then the others; the MDC coding is added where it
    /// is known.
    static func ordered(_ concept: CodeableConcept) -> CodeableConcept {
        var device = concept.codings.filter { $0.system == system }
        if device.isEmpty { device = Array(concept.codings.lazy.compactMap(coding).prefix(1)) }
        let clinical = concept.codings.filter { $0.system == LOINC.system }
        let others = concept.codings.filter { $0.system != system && $0.system != LOINC.system }
        return CodeableConcept(text: concept.text, codings: device + clinical + others)
    }
}
