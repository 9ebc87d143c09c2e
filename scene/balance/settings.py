"""Settings of the robot's balance."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty
from bpy.types import Object, PropertyGroup

from ...translations import OWN

OVER_FEET = ("AUTO", "STILL", "MOVING")  # modes that keep the robot over its feet


def _is_mesh(_balance: PropertyGroup, shown: Object) -> bool:
    return bool(shown.type == "MESH" and shown.robik.kind == "NONE")


class RobikBalance(PropertyGroup):
    """Settings of balance."""

    mode: EnumProperty(
        name="Balance",
        translation_context=OWN,
        description="How the robot keeps its balance on the feet that stand on the ground",
        items=(
            ("AUTO", "Auto", "Still where the motion is slow enough for that, else Moving; Off where no foot follows"),
            ("OFF", "Off", "The centre of mass goes where the motion takes it"),
            ("STILL", "Still", "The centre of mass is over the feet at any time, so the robot could stop in any frame"),
            (
                "MOVING",
                "Moving",
                "The zero-moment point is over the feet: momentum carries it from foot to foot",
            ),
            ("OBJECT", "Object", "The centre of mass follows an object"),
        ),
        default="AUTO",
    )
    target: PointerProperty(name="Target", description="The object that the centre of mass follows", type=Object)
    margin: FloatProperty(
        name="Margin",
        translation_context=OWN,
        description="How far inside the outline of what stands the centre of mass, or the zero-moment point, stays, "
        "beside what the motors give way by",
        unit="LENGTH",
        min=0.0,
        default=0.01,
        precision=3,
    )
    add_give: BoolProperty(
        name="For Soft Motors",
        description="Add to the margin what the motors give way by under the weight: of the servos' stiffness at their "
        "P gain where the servos are known, else a fifth of the sole's width",
        default=True,
    )
    lead: FloatProperty(
        name="Lead",
        translation_context=OWN,
        description="How long before a foot lifts the weight is off it; longer makes the shift of weight begin earlier",
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        min=0.0,
        soft_max=0.5,
        default=0.06,
        precision=2,
    )
    give_way: BoolProperty(
        name="Hips Give Way",
        description="Let balance alone say where the hips are sideways; their height and direction still follow. "
        "They are the target where the legs meet, else the first that is no foot",
        default=True,
    )
    pin_feet: BoolProperty(
        name="Pin Feet", description="Hold standing feet flat on the ground, exactly where they land", default=True
    )
    ground: PointerProperty(
        name="Ground",
        description="A mesh on which the robot stands, such as steps or a slope; it may move. Empty for level ground",
        type=Object,
        poll=_is_mesh,
    )
    weight: FloatVectorProperty(
        name="Weight",
        description="How much the centre of mass counts along the world's X, Y and Z",
        size=3,
        min=0.0,
        soft_max=1.0,
        default=(1.0, 1.0, 1.0),
    )


CLASSES = (RobikBalance,)
