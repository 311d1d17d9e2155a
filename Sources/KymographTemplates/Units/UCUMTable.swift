import KymographCore

/// The units of UCUM that devices and laboratories use, as its table 2.2 (2024-06-17) defines them.
///
/// Deliberate differences, each to keep a conversion from being wrong rather than missing: `mol`, `eq` and `osm` are
/// base units of their own (UCUM counts a mole as 6.02214076×10^23 and an equivalent as a mole, which holds only for
/// monovalent ions); `[pH]`, `B` and `Np` are logarithms and convert to nothing but themselves; π has 18 digits.
enum UCUMTable {
    /// One unit.
    struct Entry: Sendable {
        var code: String
        var takesPrefix: Bool
        /// How many of `unit` it is; nil for a base unit.
        var value: ExactRatio?
        var unit: String
    }

    /// Prefixes with their powers of ten.
    static let prefixes: [(code: String, exponent: Int)] = [
        ("da", 1), ("Y", 24), ("Z", 21), ("E", 18), ("P", 15), ("T", 12), ("G", 9), ("M", 6), ("k", 3), ("h", 2),
        ("d", -1), ("c", -2), ("m", -3), ("u", -6), ("n", -9), ("p", -12), ("f", -15), ("a", -18), ("z", -21),
        ("y", -24),
    ]

    /// Where the scales with an offset have their zero, in kelvin.
    static let zeroPoints: [String: ExactRatio?] = [
        "Cel": ExactRatio(27_315, exponent: -2), "[degF]": ExactRatio(45_967 * 5, 9, exponent: -2),
    ]

    /// Units by code.
    static let entries: [String: Entry] = {
        var entries: [String: Entry] = [:]
        for line in rows.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            let isBase = fields.count == 2
            entries[fields[0]] = Entry(
                code: fields[0], takesPrefix: fields[1] == "M",
                value: isBase ? nil : ExactRatio(decimal: fields[2]), unit: fields.count > 3 ? fields[3] : "1")
        }
        return entries
    }()

    /// Spellings that people use, and the codes that they mean.
    static let meant: [String: String] = [
        "mmHg": "mm[Hg]", "cmH2O": "cm[H2O]", "lb": "[lb_av]", "lbs": "[lb_av]", "oz": "[oz_av]", "st": "[stone_av]",
        "in": "[in_i]", "ft": "[ft_i]", "yd": "[yd_i]", "mi": "[mi_i]", "F": "[degF]", "degF": "[degF]", "°F": "[degF]",
        "C": "Cel", "degC": "Cel", "°C": "Cel", "bpm": "/min", "sec": "s", "hr": "h", "hrs": "h", "day": "d",
        "days": "d",
        "hour": "h", "hours": "h", "minute": "min", "minutes": "min", "percent": "%", "IU": "[IU]", "Cal": "[Cal]",
        "steps": "{steps}", "count": "{count}", "beats": "{beats}", "mph": "[mi_i]/h", "kmh": "km/h", "kph": "km/h",
        "psi": "[psi]", "cc": "mL", "ppm": "[ppm]", "MET": "[MET]", "inHg": "[in_i'Hg]", "Kg": "kg", "KG": "kg",
        "kgs": "kg",
    ]

    /// Code, `M` when it takes prefixes, then how many of which unit; base and arbitrary units have no more.
    private static let rows = """
        m M
        s M
        g M
        rad M
        K M
        C M
        cd M
        mol M
        eq M
        osm M
        [pH] -
        B M
        Np M
        B[SPL] M
        B[V] M
        B[mV] M
        B[uV] M
        B[W] M
        bit M
        [IU] M
        [HPF] -
        [LPF] -
        [AU] -
        [BAU] -
        [PNU] -
        [Lf] -
        [FFU] -
        [TCID_50] -
        [CCID_50] -
        [todd'U] -
        [ka'U] -
        [tb'U] -
        [bdsk'U] -
        [knk'U] -
        [mclg'U] -
        [D'ag'U] -
        [arb'U] -
        [USP'U] -
        [anti'Xa'U] -
        [beth'U] -
        [GPL'U] -
        [MPL'U] -
        [APL'U] -
        [CFU] -
        [PFU] -
        [EU] -
        [ELU] -
        [FEU] -
        [iU] M 1 [IU]
        10* - 10 1
        10^ - 10 1
        [pi] - 3.14159265358979324 1
        % - 1 10*-2
        [ppth] - 1 10*-3
        [ppm] - 1 10*-6
        [ppb] - 1 10*-9
        [pptr] - 1 10*-12
        sr M 1 rad2
        Hz M 1 s-1
        N M 1 kg.m/s2
        Pa M 1 N/m2
        J M 1 N.m
        W M 1 J/s
        A M 1 C/s
        V M 1 J/C
        F M 1 C/V
        Ohm M 1 V/A
        S M 1 Ohm-1
        Wb M 1 V.s
        Cel M 1 K
        T M 1 Wb/m2
        H M 1 Wb/A
        lm M 1 cd.sr
        lx M 1 lm/m2
        Bq M 1 s-1
        Gy M 1 J/kg
        Sv M 1 J/kg
        gon - 0.9 deg
        deg - 2 [pi].rad/360
        ' - 1 deg/60
        '' - 1 '/60
        circ - 2 [pi].rad
        l M 1 dm3
        L M 1 l
        ar M 100 m2
        min - 60 s
        h - 60 min
        d - 24 h
        wk - 7 d
        a_j - 365.25 d
        a - 1 a_j
        mo_j - 1 a_j/12
        mo - 1 mo_j
        t M 1000 kg
        bar M 100000 Pa
        atm - 101325 Pa
        [g] M 9.80665 m/s2
        gf M 1 g.[g]
        [lbf_av] - 1 [lb_av].[g]
        dyn M 1 g.cm/s2
        erg M 1 dyn.cm
        P M 1 dyn.s/cm2
        Ci M 37000000000 Bq
        R M 0.000258 C/kg
        [in_i] - 2.54 cm
        [ft_i] - 12 [in_i]
        [yd_i] - 3 [ft_i]
        [mi_i] - 5280 [ft_i]
        [nmi_i] - 1852 m
        [kn_i] - 1 [nmi_i]/h
        [sin_i] - 1 [in_i]2
        [sft_i] - 1 [ft_i]2
        [cin_i] - 1 [in_i]3
        [cft_i] - 1 [ft_i]3
        [gal_us] - 231 [in_i]3
        [qt_us] - 1 [gal_us]/4
        [pt_us] - 1 [qt_us]/2
        [gil_us] - 1 [pt_us]/4
        [foz_us] - 1 [gil_us]/4
        [tbs_us] - 1 [foz_us]/2
        [tsp_us] - 1 [tbs_us]/3
        [cup_us] - 16 [tbs_us]
        [foz_m] - 30 mL
        [cup_m] - 240 mL
        [tsp_m] - 5 mL
        [tbs_m] - 15 mL
        [gal_br] - 4.54609 l
        [pt_br] - 1 [gal_br]/8
        [foz_br] - 1 [pt_br]/20
        [gr] - 64.79891 mg
        [lb_av] - 7000 [gr]
        [oz_av] - 1 [lb_av]/16
        [dr_av] - 1 [oz_av]/16
        [stone_av] - 14 [lb_av]
        [oz_tr] - 480 [gr]
        [oz_m] - 28 g
        [degF] - 5 K/9
        [degR] - 5 K/9
        cal_IT M 4.1868 J
        cal_th M 4.184 J
        cal M 1 cal_th
        [Cal] - 1 kcal_th
        [Btu] - 1.054350 kJ
        [HP] - 550 [ft_i].[lbf_av]/s
        m[H2O] M 9.80665 kPa
        m[Hg] M 133.3220 kPa
        [in_i'H2O] - 1 m[H2O].[in_i]/m
        [in_i'Hg] - 1 m[Hg].[in_i]/m
        [psi] - 1 [lbf_av]/[in_i]2
        [PRU] - 1 mm[Hg].s/ml
        [wood'U] - 1 mm[Hg].min/L
        [diop] - 1 /m
        [MET] - 3.5 mL/min/kg
        [Ch] - 1 mm/3
        [drp] - 1 ml/20
        g% M 1 g/dl
        kat M 1 mol/s
        U M 1 umol/min
        eV M 0.0000000000000000001602176634 J
        By M 8 bit
        """
}
