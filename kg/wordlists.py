"""English words that do not name concepts, by what they do to a phrase.

Written for running text of papers: ``BREAKS`` end a phrase (function words, verbs of reporting, adverbs); ``EDGE``
words do not begin or end one, nor stand alone ("new", "results"); ``ALONE`` words may be part of a longer
name but say too little by themselves ("model", "rate"). ``PLURAL_MODIFIERS`` are plural forms that do modify nouns
("sales forecast"); any other plural inside a phrase is taken for a verb ("inhibits growth"). After ``BEFORE_VERBS``, as
they are written, comes a verb ("we train"), ``BETWEEN_VERBS`` and adverbs aside ("can not only reduce"). ``SYMBOLS``
are capitals that stand for quantities, numerals, places or small words: no names where they stand alone, and a number
after one is no part of a name ("HR 0.8").
"""

from __future__ import annotations

_FUNCTION = """
a an the this that these those it its itself they them their theirs themselves he him his she her hers we us our ours i me my you your
who whom whose which what when where why how whether and or but nor so yet for of in on at by to from with without within into onto
upon over under above below between among amongst across through throughout during before after since until till while as than then
thus hence therefore however moreover furthermore although though because if unless except despite per via toward towards against about
around along beyond behind near off out up down again further once here there all any both each every few many more most much other
others another some such no not none neither either only own same too very also just even still often always never sometimes usually
already almost rather quite instead otherwise else ever indeed overall perhaps is are was were be been being am has have had having do
does did doing done can could may might must shall should will would cannot s t don didn doesn isn wasn aren weren hasn haven
et al eg ie e.g i.e e.g. i.e. etc cf viz approx ca vs versus respectively namely whereas whereby wherein thereby thereof therein nevertheless nonetheless regardless
according due because-of amid besides plus minus like unlike upon both one two three four five six seven eight nine ten first second
third fourth last next several various certain particular respective numerous
"""
_VERBS = """
show shows showed shown showing find finds found finding suggest suggests suggested suggesting report reports reported reporting propose proposes
proposed proposing present presents presented presenting investigate investigates investigated investigating examine examines examined
examining demonstrate demonstrates demonstrated demonstrating indicate indicates indicated indicating reveal reveals revealed revealing use
uses used using provide provides provided providing describe describes described describing develop develops developed consider considers
considered considering discuss discusses discussed argue argues argued compare compares compared comparing conclude concludes concluded explain
explains explained explaining identify identifies identified identifying obtain obtains obtained obtaining perform performs performed performing
apply applies applied applying observe observes observed observing determine determines determined determining assess assesses assessed
assessing evaluate evaluates evaluated evaluating analyze analyzes analyzed analyzing analyse analysed analysing require requires required
requiring allow allows allowed allowing lead leads led leading make makes made making give gives gave given giving take takes took taken taking
become becomes became remain remains remained include includes included including contain contains contained containing involve involves
involved involving occur occurs occurred occurring cause causes caused causing affect affects affected affecting increase increases increased
increasing decrease decreases decreased decreasing reduce reduces reduced reducing improve improves improved improving enhance enhances enhanced
enhancing promote promotes promoted promoting prevent prevents prevented preventing inhibit inhibits inhibited induce induces
predict predicts predicted support supports supported suggesting confirm confirms confirmed test tests tested associate
associates associate follow follows followed estimate estimates propose address addresses addressed addressing achieve achieves
achieved achieving exhibit exhibits exhibited yield yields yielded result resulted resulting depend depends depended depending play
plays played playing know knows known seem seems seemed appear appears appeared tend tends tended need needs needed help helps helped helping
say says said see seen seek seeks sought ask asks asked answer answers answered think thought believe believed assume assumes assumed
assuming imply implies implied implying define defines defined defining denote denotes denoted let get gets got put puts keep
keeps kept hold holds held come comes came go goes went call calls called treat treats treating choose chooses
chose chosen choosing learn learns learned pay pays paid receive receives received serve serves served share face faces faced rise rises rose
fall falls fell grow grows grew express expresses carry carries carried bring brings brought turn turns turned add adds added
set sets represent represents represented representing generate generates generated generating produce produces produced producing
create creates created creating establish establishes established establishing maintain maintains maintained characterize characterizes
characterized summarize summarizes summarized review reviewed reviews highlight highlights highlighted focus focuses focused aim aims aimed want wants wanted stay stays stayed prove proves proved proven start starts started starting begin
begins began end ends ended stand stands stood run runs ran differ differs differed vary varies varied sort sorts sorted move moves moved
work works worked try tries tried
"""
_MORE_VERBS = """
refer refers referred referring mean meant means loom looms sell sells sold buy buys bought overcome overcomes drive drives
drove driven display displays displayed relate relates relating arise arises arose arising exceed exceeds exceeded anticipate anticipates
anticipated shape shapes shaped shaping smooth smooths smoothed merge merges merged encourage encourages encouraged discourage discourages
discouraged attract attracts attracted avoid avoids avoided accept accepts accepted reject rejects rejected deny denies denied limit limits
limited limiting extend extends extended extending rely relies relied relying respond responds responded offset offsets shift shifts
shifted reach reaches reached match matches matched matching combine combines combined combining replace replaces replaced separate separates
separated select selects selected selecting solve solves solved solving compute computes computed computing measure measured measuring
contribute contributes contributed contributing capture captures captured capturing reflect reflects reflected reflecting satisfy satisfies
satisfied guarantee guarantees guaranteed ensure ensures ensured enable enables enabled enabling introduce introduces introduced introducing
derive derives derived deriving construct constructs constructed constructing illustrate illustrates illustrated verify verifies verified
validate validates validated exist exists existed existing lie lies lay assign assigns assigned assigning change changed changing concern
concerned concerning account accounts accounted accounting-for deal deals dealt dealing serve serving attempt attempts attempted try trying
behave behaves behaved belong belongs belonged cover covers covered covering cross crosses crossed count counts counted draw draws drew
drawn drop drops dropped earn earns earned earning eliminate eliminates eliminated emphasize emphasizes emphasized employ employs
employed exploit exploits exploited expect expects expected-to fail fails failed form forms formed happen happens happened ignore ignores
ignored impose imposes imposed influenced influences interpret interprets interpreted investigated involve issue issued join joins joined
lower lowers lowered mention mentions mentioned modify modifies modified motivate motivates motivated note notes noted offer offers offered
open opens opened permit permits permitted raise raises raised recommend recommends recommended record recorded remove removes removed
resemble resembles resembled reverse reverses reversed send sends sent spread spreads stimulate stimulates stimulated stress stressed suffer
suffers suffered surround surrounds surrounded tell tells told translate translates trigger triggers triggered undergo undergoes underwent
utilize utilizes utilized utilizing view viewed warrant warrants win wins won yield yielding
adopt adopts adopted adopting arose augment augments became began broke build builds came concatenate concatenates converge converges
decide decides decided deciding deem deems deemed derive derives deriving devise devises devised drew ensure ensures ensured ensuring
evolve evolves exclude excludes excluded excluding explore explores explored exploring facilitate facilitates facilitated
facilitating fell felt flew forgot fought gave grew illustrate illustrates illustrated illustrating incorporate incorporates
incorporated incorporating incur incurs incurred introduce introduces introduced introducing knew leveraging lie lies lied lost
maximize maximizes minimize minimizes optimize optimizes optimizing outperform outperforms outperformed outperforming
preserve preserves reexamine rewrite sang sank sat shook shrank slept spoke spent stole struck surpass surpasses surpassed swam
sworn taught threw tore underlie underlies visualize visualizes visualized woke wore write writes wrote withdrew adapt adapts
enable enables enabled enabling intend intends intended solve solves solved combine combines combining employ employs employing
discover discovers discovered discovering emerge emerges emerged encountered participate participates participated belong belongs
belonged possess possesses possessed regard regards regarded regarding correspond corresponds corresponded consist consists consisted
consisting constitute constitutes constituted fig figs eq eqs eqn eqns tab ref refs aforementioned
"""
_ALSO_NOUNS = """
test tests testing stress support supports review reviews focus estimate estimates result results increase increases decrease decreases
share shares face faces rise rises fall falls cause causes set sets limit limits shift shifts match matches matching measure measures change
changes account accounts accounting record records view views form forms offer offers note notes drop drops draw draws cross crosses cover
covers count counts issue issues yield yields work works play plays need needs call calls aim aims spread spreads trigger triggers start starts
end ends run runs stand stands sort sorts move moves lower reverse influence influences attempt attempts contact learning
treat treats pricing predict compute computing select extend attract shape shapes win wins return returns report reports use uses
thought answer answers help holds keep trial concern concerns deal deals present known given separate open combined
distributed understanding finding findings expressed induced associated selected separating processing
"""
_HEAD_NOUNS = """
study studies effect effects problem problems method methods information data value values group groups level levels sample samples change changes
difference differences relationship relationships relation number numbers case cases knowledge time times point points term terms order part parts
subject subjects participant participants form forms reduction type types question questions set sets range degree evidence support image work works
approach approaches role amount amounts decrease increase comparison limit limits estimate estimates treatment literature design quarter page view views
"""
_NOT_ADVERBS = """
supply family assembly anomaly monopoly duopoly oligopoly monopsony reply july italy butterfly ally rally tally belly jelly homily elderly
daily weekly monthly yearly quarterly costly poly multiply panoply doily lily bully gully fly firefly dragonfly subfamily superfamily
resupply oversupply undersupply reassembly disassembly polly sicily
"""
_EDGE = """
new novel different similar significant important recent previous current present main major key general common specific possible potential
available likely useful effective efficient large small larger smaller largest smallest great greater greatest good better best strong stronger
weak weaker simple complex whole entire full total average single double multiple additional further extra early late later long short
paper papers article articles study studies work works section sections chapter author authors researcher researchers result results finding
findings conclusion conclusions evidence example examples case cases way ways thing things fact facts kind kinds type types
part parts number numbers amount amounts level levels set sets group groups term terms order point points aspect aspects issue issues problem problems
question questions approach approaches use usage role roles effect effects impact influence increase decrease reduction change changes
difference differences comparison relationship relationships relation basis need aim aims goal goals purpose objective objectives
background introduction method methods discussion summary abstract overview conclusion appendix figure figures table tables
able unable unclear unknown clear well known high low higher lower highest lowest hand year years month months day days week weeks time times
today ago literature respect addition contrast particular presence absence lack insight insights understanding knowledge understood
able subject subjects participant participants sample samples value values data information ability degree extent range majority
rest situation situations circumstance circumstances context contexts sense manner argument arguments
half quarter percent percentage view views idea ideas form forms change reason reasons thousand million billion page pages
following corresponding typical existing challenging diverse wide wider successful fewer slower biggest bigger detailed original
latter former desirable necessary promising noteworthy state-of-the-art supplementary inability detail details mistake mistakes
mistaken manuscript acknowledgement acknowledgements acknowledgments
versus related based associated dependent independent prior subsequent consistent robust comparable relevant underlying
"""
_WEAK_NOUNS = """
result results report reports use uses note notes need needs aim aims thought answer answers help holds keep concern concerns deal deals present
known given call calls attempt attempts start starts end ends stand stands sort sorts finding findings selected separate open combined play
plays associated issue issues view views treat treats understanding induced expressed support supports increase increases decrease
decreases estimate estimates set sets limit limits shape shapes cause causes work works
"""
_ALONE = (
    """
model models theory theories system systems analysis process processes function functions structure structures rate rates measure measures factor
factors condition conditions control controls research test tests testing response responses activity activities development design
application applications technique techniques performance quality cost costs price prices market markets firm firms people person
population human humans patient patients individual individuals cell cells line lines state states country countries area areas region regions
field fields world history life age size power force property properties component components feature features element elements
variable variables parameter parameters distribution sum mean variation variance error errors loss gain gains increase growth
experiment experiments treatment treatments therapy intervention outcome outcomes risk benefit benefits estimate estimates evaluation
assessment prediction predictions task tasks framework algorithm algorithms procedure procedures mechanism mechanisms pattern patterns
expression production formation interaction interactions association associations correlation target targets source sources
resource resources product products service services program programs policy policies strategy strategies decision decisions choice choices
behavior behaviour action actions event events period periods phase phases stage stages step steps component review trial trials
dataset yes subset subsets improvement improvements baseline baselines insight hyperparameter hyperparameters million row rows column
columns hour hours minute minutes variety scratch effectiveness usefulness advantage advantages disadvantage notation contribution
contributions database sequence sequences signal signals network networks space term class classes category categories mode modes scale scales
"""
    + "equation equations proof theorem assumption assumptions definition concept concepts notion principle rule rules law laws"
)
_PLURAL_MODIFIERS = """
analysis basis bias sales systems operations services economics news goods earnings futures options returns statistics rights jobs
physics mathematics genetics dynamics logistics analytics diabetes aids series species stress loss mass business process access class
less axis crisis virus status focus consensus census thesis hypothesis sepsis apoptosis mitosis tuberculosis arthritis hepatitis diagnosis
prognosis synthesis metastasis sclerosis fibrosis homeostasis genesis analysis previous various serious gas lens bus plus campus stimulus
nucleus locus corpus calculus thymus fetus mucous nervous venous fibrous continuous endogenous exogenous heterogeneous homogeneous
simultaneous instrumental-variables variables ols gps dbs gls mers sars ms ps cs ics mass grass glass press across cross boss
communications humanities arts ethics politics athletics robotics informatics linguistics semantics kinetics mechanics electronics
proteomics genomics metabolomics transcriptomics epigenetics diagnostics therapeutics pharmacokinetics biomechanics thermodynamics
infectious cancerous gaseous aqueous religious precious conscious unconscious ambiguous anonymous autonomous indigenous cutaneous
subcutaneous intravenous mellitus lupus erythematosus streptococcus staphylococcus bayes gauss laplace holmes united states markets
resources rights savings securities derivatives
"""

_SYMBOLS = """
CI OR HR RR SD SE SEM IQR BMI MD NS ID AUC ANOVA US UK EU II III IV VI VII VIII IX XI IN ON OF TO AT BY IS IT AS AN NO WE SO VS
"""
_BEFORE_VERBS = "we We they They you You can could may might must shall should will would cannot"
_BETWEEN_VERBS = "not also then therefore thus first even still only further just often always never now"

BREAKS: frozenset[str] = frozenset((_FUNCTION + _VERBS + _MORE_VERBS).split()) - frozenset(_ALSO_NOUNS.split())
NOT_ADVERBS: frozenset[str] = frozenset(_NOT_ADVERBS.split())
EDGE: frozenset[str] = frozenset((_EDGE + _WEAK_NOUNS).split()) - frozenset(_HEAD_NOUNS.split())
ALONE: frozenset[str] = frozenset((_ALONE + _ALSO_NOUNS + _HEAD_NOUNS).split())
PLURAL_MODIFIERS: frozenset[str] = frozenset(_PLURAL_MODIFIERS.split())
SYMBOLS: frozenset[str] = frozenset(_SYMBOLS.split())
BEFORE_VERBS: frozenset[str] = frozenset(_BEFORE_VERBS.split())
BETWEEN_VERBS: frozenset[str] = frozenset(_BETWEEN_VERBS.split())
